#include "app/verbs/doctor.h"

#include <sys/stat.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <thread>
#include <utility>

#include "app/config/data_directory.h"
#include "app/config/external_issuers.h"
#include "app/config/mail_options.h"
#include "app/config/payment_keys.h"
#include "app/foundation/foundation.h"
#include "app/foundation/open_database.h"
#include "app/process/open_files.h"
#include "app/verbs/calls.h"
#include "app/version.h"
#include "base/split.h"
#include "crypto/encoding.h"
#include "crypto/service_cipher.h"
#include "crypto/vault_keys.h"
#include "net/ip_address.h"
#include "net/runtime.h"
#include "storage/copy/copy.h"
#include "storage/postgres/node_roles.h"
#include "storage/schema/migrations.h"
#include "storage/stores/key_store.h"

namespace presetbridge::app {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

using Grade = Finding::Grade;

constexpr Millis kDeadline{8'000};
constexpr std::uintmax_t kMebibyte = 1024 * 1024;
constexpr std::uintmax_t kLittleRoom = 2048 * kMebibyte;
constexpr std::uintmax_t kNoRoom = 128 * kMebibyte;
constexpr std::chrono::seconds kSkew{30};

bool is_loopback(std::string_view url) {
  return url.starts_with("http://127.") || url.starts_with("http://localhost") ||
         url.starts_with("http://[::1]");
}

// `Sun, 06 Nov 1994 08:49:37 GMT`
std::optional<Timestamp> http_date(const std::string& text) {
  std::tm parts{};
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  stream >> std::get_time(&parts, "%a, %d %b %Y %H:%M:%S GMT");
  if (stream.fail()) return std::nullopt;
  return from_unix_ms(std::int64_t{::timegm(&parts)} * 1000);
}

class Examination {
 public:
  Examination(const Config& config) : config_(config), directory_(data_directory(config)) {}

  std::vector<Finding> run() {
    check_folder();
    check_keys();
    check_open_files();
    calls_.emplace("presetbridge-doctor");
    check_service();
    check_database();
    check_cloud();
    check_address();
    check_payments();
    check_issuers();
    check_smtp();
    check_sandbox();
    return std::move(findings_);
  }

 private:
  void add(Grade grade, const char* what, std::string found, std::string advice = {}) {
    findings_.push_back({grade, what, std::move(found), std::move(advice)});
  }

  void check_folder() {
    constexpr const char* kWhat = "data directory";
    std::error_code error;
    const auto folder = directory_.folder.string();
    const auto status = fs::status(directory_.folder, error);
    if (status.type() == fs::file_type::not_found) {
      return add(Grade::note, kWhat, folder + " is not there: `serve` makes it");
    }
    if (!fs::is_directory(status)) {
      return add(Grade::problem, kWhat, folder + " is no folder that can be read",
                 "Name another one: --data-dir.");
    }
    if ((status.permissions() & (fs::perms::group_write | fs::perms::others_write)) != fs::perms::none) {
      return add(Grade::problem, kWhat, "others may write to " + folder, "chmod 700 " + folder);
    }
    const auto room = fs::space(directory_.folder, error);
    const auto left = fmt::format("{}, {} MiB free", folder, room.available / kMebibyte);
    if (!error && room.available < kNoRoom) {
      return add(Grade::problem, kWhat, left, "Make room: soon no order can be stored.");
    }
    if (!error && room.available < kLittleRoom) {
      return add(Grade::warning, kWhat, left, "Orders are never deleted: plan the disk for them.");
    }
    add(Grade::good, kWhat, left);
  }

  // The private one is checked from outside: only the credential agent opens it (spec 5.3).
  void check_keys() {
    constexpr const char* kWhat = "keys";
    const std::array files = {directory_.service_key, directory_.vault_public_key,
                              directory_.vault_private_key};
    std::error_code error;
    const auto there =
        std::ranges::count_if(files, [&](const auto& file) { return fs::exists(file, error); });
    if (there == 0) return add(Grade::note, kWhat, "none yet: `serve` or `vault init` makes them");
    constexpr const char* kRestore =
        "Restore them from the backup of the keys, or copy them from another node.";
    for (const auto& file : files) {
      if (file == directory_.vault_private_key && !opens_logins(config_)) continue;
      struct stat about{};
      if (::stat(file.c_str(), &about) != 0)
        return add(Grade::problem, kWhat, file.string() + " is missing", kRestore);
      const bool secret = file != directory_.vault_public_key;
      if (secret && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return add(Grade::problem, kWhat, "others may read " + file.string(), "chmod 600 " + file.string());
    }
    const auto service = crypto::read_service_keys(directory_.service_key);
    if (!service) return add(Grade::problem, kWhat, service.error().message, kRestore);
    const auto vault = crypto::read_vault_public_keys(directory_.vault_public_key);
    if (!vault) return add(Grade::problem, kWhat, vault.error().message, kRestore);
    for (const auto& key : *service) service_ids_.push_back(crypto::hex_encode(key.id));
    for (const auto& key : *vault) vault_ids_.push_back(crypto::hex_encode(key.id()));
    add(Grade::good, kWhat, "all files are there, and readable by their owner alone");
  }

  void check_open_files() {
    const auto connections = connections_within(config_, thread_count(config_), raise_open_files());
    if (!connections) {
      return add(Grade::problem, "open files", connections.error().message,
                 "Raise the limit: ulimit -n, or LimitNOFILE.");
    }
    const auto found = fmt::format("room for {} connections", *connections);
    if (*connections < config_.http_connections) {
      return add(
          Grade::warning, "open files", fmt::format("{} of {} wanted", found, config_.http_connections),
          "Raise the hard limit of open files (ulimit -Hn, LimitNOFILE), or lower --http-connections.");
    }
    add(Grade::good, "open files", found);
  }

  net::HttpResult get(const std::string& url) {
    net::OutgoingRequest request;
    request.method = "GET";
    request.url = url;
    request.policy = net::AddressPolicy::configured;
    request.deadline = kDeadline;
    auto result = calls_->send(std::move(request));
    if (const auto* answer = result.answer()) compare_clocks(url, *answer);
    return result;
  }
  void compare_clocks(const std::string& url, const net::HttpAnswer& answer) {
    const auto date = std::ranges::find(answer.headers, "date", &std::pair<std::string, std::string>::first);
    const auto there = date == answer.headers.end() ? std::nullopt : http_date(date->second);
    if (!there) return;
    const auto apart = net::SystemClock().now() - *there;
    if (apart < kSkew && apart > -kSkew) return;
    add(Grade::warning, "clock",
        fmt::format("it is {} s away from the clock of {}",
                    std::chrono::duration_cast<std::chrono::seconds>(apart).count(), url),
        "Keep the clock right (systemd-timesyncd, chrony): signatures and tokens are judged by it.");
  }

  void check_service() {
    const auto listen = parse_listen(config_.listen);
    if (!listen || listen->port == 0) {
      return add(Grade::note, "service", "it listens on any free port, so it cannot be asked");
    }
    const auto any = listen->address == "0.0.0.0" || listen->address == "::";
    const auto url =
        http_url(any ? (listen->address == "::" ? "::1" : "127.0.0.1") : listen->address, listen->port);
    const auto result = get(url + "/readyz");
    const auto* answer = result.answer();
    if (!answer) return add(Grade::note, "service", "none answers at " + url);
    boost::system::error_code error;
    const auto body = json::parse(answer->body, error);
    const auto* object = error ? nullptr : body.if_object();
    const auto* waiting = object ? object->if_contains("waitingFor") : nullptr;
    if (!waiting || !waiting->is_array()) {
      return add(Grade::problem, "service", "something else answers at " + url,
                 "Choose another port: --listen.");
    }
    serves_ = true;
    if (answer->status == 200) return add(Grade::good, "service", "it is ready at " + url);
    std::vector<std::string> parts;
    for (const auto& part : waiting->get_array())
      if (part.is_string()) parts.emplace_back(part.get_string());
    add(Grade::problem, "service", fmt::format("at {} it waits for: {}", url, fmt::join(parts, ", ")),
        "Its log says why.");
  }

  void check_database() {
    constexpr const char* kWhat = "database";
    const bool shared = !config_.database_url.empty();
    std::error_code error;
    if (!shared && !fs::exists(directory_.database, error)) {
      return add(Grade::note, kWhat, directory_.database.string() + " is not there: `serve` makes it");
    }
    auto open = open_database(config_, directory_);
    if (!open && open.error().code == "STORAGE_LOCKED") {
      return add(serves_ ? Grade::good : Grade::note, kWhat, "a process is at work on it: it answers for it");
    }
    if (!open) {
      return add(Grade::problem, kWhat, open.error().message,
                 shared ? "Is the server there, is --database-url right, may this machine connect "
                          "(pg_hba.conf, ~/.pgpass)?"
                        : "Restore it from the backup, or check the disk.");
    }
    try {
      check_contents(*open->database, shared);
    } catch (const storage::DbError& e) {
      add(Grade::problem, kWhat, fmt::format("it cannot be used: {}", e.what()));
    }
  }
  void check_contents(storage::Database& database, bool shared) {
    constexpr const char* kWhat = "database";
    const auto fit = storage::check_schema(database);
    if (!fit && fit.error().code == "SCHEMA_MISSING") {
      return add(Grade::note, kWhat, "it is empty: `serve` or `migrate` makes the tables");
    }
    if (!fit && fit.error().code == "SCHEMA_OLDER") {
      return add(Grade::note, kWhat,
                 "its schema is older than this program: `serve` or `migrate` brings it up to date");
    }
    if (!fit) {
      return add(Grade::problem, kWhat, fit.error().message, "Run the program that made it, or a newer one.");
    }
    std::vector<std::string> missing;
    std::vector<std::string> service;
    std::vector<std::string> vault;
    bool unfinished = false;
    database.read([&](storage::Tx& tx) {
      if (shared) missing = storage::missing_rights(tx, has_role(config_, "worker"));
      service = storage::used_keys(tx, storage::KeyUse::service);
      vault = storage::used_keys(tx, storage::KeyUse::vault);
      unfinished = storage::copy_unfinished(tx, database.engine());
    });
    if (!missing.empty()) {
      return add(Grade::problem, kWhat, fmt::format("this role may not read {}", fmt::join(missing, ", ")),
                 "Run `presetbridge database grant` as the database's owner.");
    }
    if (unfinished) {
      return add(Grade::problem, kWhat, "it is the target of a copy that has not ended",
                 "Run the same `presetbridge copy` again until it says that all is equal.");
    }
    const auto all_in = [](const std::vector<std::string>& used, const std::vector<std::string>& ours) {
      return std::ranges::all_of(used,
                                 [&](const auto& id) { return std::ranges::find(ours, id) != ours.end(); });
    };
    if (!all_in(service, service_ids_) || !all_in(vault, vault_ids_)) {
      return add(
          Grade::problem, kWhat, "its secrets are sealed with other keys than those of the data directory",
          "Restore service.key, vault.key and vault.pub from the backup, or copy them from another node.");
    }
    add(Grade::good, kWhat, fmt::format("{}, its schema is that of this program", database.engine()));
  }

  void check_cloud() {
    const auto result = get(config_.cloud_url);
    if (const auto* failure = result.failure()) {
      return add(Grade::problem, "cloud platform",
                 config_.cloud_url + " does not answer: " + failure->message,
                 "Is --cloud-url right, is the adapter at work, does a firewall stand between?");
    }
    add(Grade::good, "cloud platform", config_.cloud_url + " answers");
  }

  void check_address() {
    constexpr const char* kWhat = "public address";
    if (config_.base_url.empty()) {
      return add(config_.sandbox ? Grade::note : Grade::warning, kWhat, "base_url is not set",
                 config_.sandbox
                     ? ""
                     : "Set --base-url before people sign up: stores, buyers and sign-in go by it.");
    }
    if (!config_.base_url.starts_with("https://") && !is_loopback(config_.base_url)) {
      add(Grade::problem, kWhat, config_.base_url + " is plain HTTP: browsers cannot sign in",
          "Put a reverse proxy with TLS before it, and name its https:// address.");
    }
    if (!config_.base_url.starts_with("https://") || is_loopback(config_.base_url)) return;
    if (config_.http_trusted_proxies.empty()) {
      add(Grade::warning, "proxy", "http.trusted_proxies names none: all clients have the proxy's address",
          "Name your reverse proxy in --http-trusted-proxies, as 127.0.0.1.");
    }
    if (!serves_)
      return add(Grade::note, kWhat, config_.base_url + " is not asked, as no service answers here");
    const auto result = get(config_.base_url + "/api/version");
    const auto* answer = result.answer();
    if (!answer || answer->status != 200 || !answer->body.contains("\"version\"")) {
      return add(Grade::problem, kWhat,
                 config_.base_url + (answer ? fmt::format(" answers {}", answer->status)
                                            : " does not answer: " + result.failure()->message),
                 "Check the reverse proxy and DNS; some machines cannot reach their own public address.");
    }
    add(Grade::good, kWhat, config_.base_url + " leads here");
    const auto metrics = get(config_.base_url + "/metrics");
    if (config_.http_metrics && metrics.answer() && metrics.answer()->status == 200) {
      add(Grade::warning, "proxy", "/metrics is open to everybody",
          "Have the reverse proxy refuse /metrics and /internal/, or set --http-metrics=false.");
    }
  }

  void check_payments() {
    const auto keys = read_payment_keys(config_, directory_);
    if (!keys) return add(Grade::problem, "payments", keys.error().message);
    if (!*keys) {
      return add(config_.credits_packs.empty() ? Grade::note : Grade::problem, "payments",
                 "there is no payments.key: no credits are sold",
                 config_.credits_packs.empty()
                     ? ""
                     : "Put the processor's key into " + directory_.payments_key.string() + ".");
    }
    if (config_.credits_packs.empty()) {
      return add(Grade::warning, "payments", "credits.packs names none: there is nothing to buy",
                 "Name packs: --credits-packs.");
    }
    if ((*keys)->webhook.empty()) {
      return add(Grade::warning, "payments",
                 "there is no secret of the processor's webhooks: purchases are only asked for",
                 "Put it into " + directory_.payments_webhook.string() + ".");
    }
    add(Grade::good, "payments", (*keys)->live ? "the key is for real money" : "the key is for tests");
  }

  void check_issuers() {
    const auto external = external_issuers(config_.identity_external, directory_.folder);
    if (!external) return add(Grade::problem, "sign-in", external.error().message);
    std::vector<std::string> issuers;
    for (const auto& one : *external) issuers.push_back(one.iss);
    for (const auto& text : config_.identity_trusted) issuers.push_back(split(text, ' ').front());
    for (auto iss : issuers) {
      while (iss.ends_with('/')) iss.pop_back();
      const auto result = get(iss + "/.well-known/openid-configuration");
      const auto* answer = result.answer();
      if (answer && answer->status == 200) {
        add(Grade::good, "sign-in", iss + " answers");
      } else {
        add(Grade::problem, "sign-in",
            iss + (answer ? fmt::format(" answers {}", answer->status)
                          : " does not answer: " + result.failure()->message),
            "Is the issuer's address right (identity.external, identity.trusted), and can it be reached from "
            "here?");
      }
    }
  }

  void check_smtp() {
    if (config_.mail_url.empty()) {
      return add(Grade::note, "mail", "mail.url is not set: nobody resets a password by mail",
                 "Name an SMTP server: --mail-url.");
    }
    if (!has_role(config_, "dispatcher"))
      return add(Grade::note, "mail", "another node sends mails: this one has not the role dispatcher");
    auto options = mail_options(config_, directory_);
    if (!options) return add(Grade::problem, "mail", options.error().message);
    options->deadline = kDeadline;
    options->reply = std::chrono::ceil<std::chrono::seconds>(kDeadline);
    if (const auto failure = calls_->check_mail(std::move(*options))) {
      return add(
          Grade::problem, "mail", config_.mail_url + " cannot be used: " + failure->message,
          "Are mail.url, mail.user and mail.password right, and is its certificate known (mail.ca_file)?");
    }
    add(Grade::good, "mail", config_.mail_url + " takes the login");
  }

  void check_sandbox() {
    if (config_.sandbox) add(Grade::note, "sandbox", "this is no service for real shops");
  }

  const Config& config_;
  const DataDirectory directory_;
  std::optional<Calls> calls_;
  std::vector<std::string> service_ids_;
  std::vector<std::string> vault_ids_;
  bool serves_ = false;  // at the address of the settings
  std::vector<Finding> findings_;
};

constexpr std::array<std::string_view, 4> kGrades = {"ok", "note", "warning", "problem"};

}  // namespace

std::vector<Finding> examine(const LoadedConfig& settings) {
  std::vector<Finding> findings;
  for (const auto& [field, problem] : settings.problems) {
    const auto setting = std::ranges::find(app::settings(), field, &Setting::key);
    const bool known = setting != app::settings().end();
    findings.push_back(
        {Grade::problem, "settings", field + " " + problem,
         known ? "Set --" + flag_name(*setting) + ", or " + std::string(setting->key) + " in the file."
               : ""});
  }
  if (!findings.empty()) return findings;
  findings.push_back({Grade::good, "settings", "presetbridge " + std::string(kVersion) + " takes them", ""});
  auto more = Examination(settings.config).run();
  findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return findings;
}

void print_findings(const std::vector<Finding>& findings, bool as_json, std::ostream& out) {
  for (const auto& one : findings) {
    const auto grade = kGrades[static_cast<std::size_t>(one.grade)];
    if (as_json) {
      json::object line{{"grade", grade}, {"what", one.what}, {"found", one.found}};
      if (!one.advice.empty()) line["advice"] = one.advice;
      out << json::serialize(line) << '\n';
      continue;
    }
    out << fmt::format("{:<8} {:<15} {}\n", grade, one.what, printable(one.found));
    if (!one.advice.empty()) out << fmt::format("{:<24} -> {}\n", "", printable(one.advice));
  }
  out.flush();
}

int run_doctor(const LoadedConfig& settings, bool json, std::ostream& out) {
  const auto findings = examine(settings);
  print_findings(findings, json, out);
  if (!settings.problems.empty()) return 2;
  return std::ranges::any_of(findings, [](const Finding& one) { return one.grade == Grade::problem; }) ? 1
                                                                                                       : 0;
}

}  // namespace presetbridge::app
