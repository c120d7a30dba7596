#include "app/config/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/nearest_name.h"
#include "base/split.h"

namespace presetbridge::app {
namespace {

constexpr std::int64_t kMebibyte = 1024 * 1024;
constexpr std::uintmax_t kLongestFile = kMebibyte;

const std::array kSettings = {
    Setting{"listen", &Config::listen, "Numeric address and port to listen on; port 0: any free one"},
    Setting{"base_url", &Config::base_url, "Public address of the service, without a slash at its end"},
    Setting{"data_dir", &Config::data_dir, "Folder of the database and the keys"},
    Setting{"database_url", &Config::database_url,
            "postgresql://… of a database that nodes share, without password; empty: SQLite in data_dir"},
    Setting{"roles", &Config::roles, "Roles of this node: api, worker, dispatcher"},
    Setting{"threads", &Config::threads, "Threads that serve requests; 0: one per core", 0, 256},
    Setting{"sandbox", &Config::sandbox, "Simulated surroundings; plain HTTP to subscribers on this machine"},
    Setting{"support_url", &Config::support_url, "Page where merchants find help"},
    Setting{"log.level", &Config::log_level, "Lowest severity of the lines that are logged", 0, 0,
            "debug info warn error"},
    Setting{"http.connections", &Config::http_connections,
            "Limit of open client connections; lower where the limit of open files is low", 1, 1'000'000},
    Setting{"http.metrics", &Config::http_metrics, "Whether GET /metrics answers"},
    Setting{"http.trusted_proxies", &Config::http_trusted_proxies,
            "Reverse proxies whose X-Forwarded-For is believed: addresses, or networks like 10.0.0.0/8"},
    Setting{"http.failures_per_address", &Config::http_failures_per_address,
            "Limit of requests from one address without a valid token, key, signature or store; the budget "
            "refills evenly over a minute",
            1, 60'000},
    Setting{"limits.body_bytes", &Config::limits_body_bytes, "Size limit of a request body, in bytes", 1024,
            64 * kMebibyte},
    Setting{"limits.line_items", &Config::limits_line_items, "Limit of line items in one order", 1, 10'000},
    Setting{"limits.refund_lines", &Config::limits_refund_lines,
            "Limit of refunded lines in one event of an order", 1, 10'000},
    Setting{"limits.username_characters", &Config::limits_username_characters,
            "Length limit of a username, in characters", 1, 1'000},
    Setting{"limits.json_depth", &Config::limits_json_depth, "Nesting limit of an order's JSON", 4, 512},
    Setting{"limits.mappings", &Config::limits_mappings, "Limit of mappings of one store", 1, 50'000},
    Setting{"limits.mappings_per_key", &Config::limits_mappings_per_key,
            "Limit of mappings of one store with equal match type and value", 1, 1'000},
    Setting{"live.readers", &Config::live_readers,
            "Limit of open event streams, half of http.connections at most; a quarter of them is reserved "
            "for buyers",
            8, 100'000},
    Setting{"live.readers_per_account", &Config::live_readers_per_account,
            "Limit of open event streams of one account", 1, 1'000},
    Setting{"live.kept_minutes", &Config::live_retention_minutes,
            "How long a disconnected reader of events can resume without a gap", 1, 1'440},
    Setting{"live.write_seconds", &Config::live_write_seconds,
            "Time after which a reader that does not accept data is disconnected", 1, 300},
    Setting{"live.poll_ms", &Config::live_poll_ms,
            "Poll interval for changes of other nodes, while event streams are open", 10, 60'000},
    Setting{"cloud.url", &Config::cloud_url, "Address of the cloud platform, without a slash at its end"},
    Setting{"cloud.timeout_seconds", &Config::cloud_timeout_seconds,
            "Timeout of one call to the cloud platform", 1, 300},
    Setting{"cloud.concurrency", &Config::cloud_concurrency,
            "Limit of concurrent calls to the cloud platform", 1, 10'000},
    Setting{"cloud.login_path", &Config::cloud_login_path, "Path of the login"},
    Setting{"cloud.user_path", &Config::cloud_user_path, "Path of a user, with {username}", 0, 0, "",
            "{username}"},
    Setting{"cloud.friendships_path", &Config::cloud_friendships_path, "Path of the friendships"},
    Setting{"cloud.friendship_path", &Config::cloud_friendship_path, "Path of one friendship, with {userId}",
            0, 0, "", "{userId}"},
    Setting{"cloud.files_path", &Config::cloud_files_path, "Path of the files"},
    Setting{"cloud.share_path", &Config::cloud_share_path, "Path of a share, with {fileId} and {userId}", 0,
            0, "", "{fileId} {userId}"},
    Setting{"cloud.name", &Config::cloud_name, "Name of the cloud platform, as people know it"},
    Setting{"cloud.friend_requests_url", &Config::cloud_friend_requests_url,
            "Page of the cloud platform where a user answers friend requests, for buyers"},
    Setting{"cloud.app_url", &Config::cloud_app_url,
            "Page or app of the cloud platform where a user finds shared files, for buyers"},
    Setting{"delivery.jobs_per_minute", &Config::delivery_jobs_per_minute,
            "Jobs of one cloud account in any 60 seconds; 0: no limit", 0, 100'000},
    Setting{"delivery.jobs_per_minute_total", &Config::delivery_jobs_per_minute_total,
            "Jobs of all cloud accounts together, on all nodes, in any 60 seconds; 0: no limit", 0, 20'000},
    Setting{"delivery.max_jobs", &Config::delivery_max_jobs,
            "Limit of concurrent jobs, cloud.concurrency at most", 1, 10'000},
    Setting{"delivery.lease_seconds", &Config::delivery_lease_seconds,
            "Duration of a job's lease; at least 10 more than cloud.timeout_seconds", 5, 600},
    Setting{"delivery.poll_ms", &Config::delivery_poll_ms,
            "Poll interval for due work when no wake-up arrives", 10, 60'000},
    Setting{"delivery.maintenance_ms", &Config::delivery_maintenance_ms,
            "Interval of maintenance: expired leases are taken over, missed work is found", 10, 60'000},
    Setting{"delivery.sweep_page", &Config::delivery_sweep_page, "Page size of a sweep of friendships", 1,
            500},
    Setting{"delivery.first_sweep_seconds", &Config::delivery_first_sweep_seconds,
            "Delay from a friend request to the first check whether it was accepted", 1, 3'600},
    Setting{"outbound.concurrency", &Config::outbound_concurrency,
            "Limit of concurrent delivery attempts of outbound webhooks", 1, 20'000},
    Setting{"outbound.concurrency_per_host", &Config::outbound_concurrency_per_host,
            "Limit of concurrent delivery attempts to one host", 1, 1'000},
    Setting{"identity.signup", &Config::identity_signup, "Whether new people may sign up", 0, 0,
            "open invite closed"},
    Setting{"identity.signups_per_hour", &Config::identity_signups_per_hour,
            "Limit of sign-up attempts without an invitation in any hour, of all clients together", 1,
            100'000},
    Setting{"identity.signups_per_address", &Config::identity_signups_per_address,
            "Limit of sign-up attempts in any hour from one address", 1, 100'000},
    Setting{"identity.failures_per_address", &Config::identity_failures_per_address,
            "Limit of failed sign-ins from one address; the budget refills evenly over an hour", 1, 100'000},
    Setting{"identity.issuer", &Config::identity_issuer,
            "Issuer name of the built-in sign-in; identities depend on it: keep it when base_url changes"},
    Setting{"identity.trusted", &Config::identity_trusted,
            "Further OpenID Connect issuers whose ID tokens are accepted: \"ISSUER AUDIENCE\" each"},
    Setting{"identity.external", &Config::identity_external,
            "Identity providers for sign-in in a browser: \"ID SIGNUP ISSUER CLIENT NAME\" each"},
    Setting{"identity.passwords", &Config::identity_passwords,
            "Whether people sign up and sign in with e-mail and password"},
    Setting{"credits.low_threshold", &Config::credits_low_threshold,
            "Balance at which an account is notified (credits.low), unless it has set its own threshold", 0,
            1'000'000},
    Setting{"credits.signup_credits", &Config::credits_signup_credits, "Initial credits of a new account", 0,
            1'000'000},
    Setting{
        "credits.packs", &Config::credits_packs,
        "Packs for sale: \"ID CREDITS PRICE CURRENCY NAME\" each, the price in the currency's smallest unit"},
    Setting{"payments.url", &Config::payments_url,
            "Address of the payment processor's API: https, or http on this machine"},
    Setting{"payments.timeout_seconds", &Config::payments_timeout_seconds,
            "Timeout of one call to the payment processor", 1, 30},
    Setting{"mail.url", &Config::mail_url,
            "SMTP server for mails to people: smtp://HOST:PORT, which changes to TLS, or smtps://HOST:PORT; "
            "empty: no "
            "mail is sent"},
    Setting{"mail.user", &Config::mail_user, "User name at the SMTP server; empty: without a login"},
    Setting{"mail.from", &Config::mail_from, "E-mail address of the sender"},
    Setting{"mail.from_name", &Config::mail_from_name, "Name of the sender"},
    Setting{"mail.ca_file", &Config::mail_ca_file,
            "Certificates (PEM) that vouch for the SMTP server; empty: those of the system"},
    Setting{"api.key_requests_per_hour", &Config::api_key_requests_per_hour,
            "Hourly request limit of new API keys", 1, 100'000},
    Setting{"storage.writers", &Config::storage_writers, "Database connections for writing, with PostgreSQL",
            1, 64},
    Setting{"storage.path", &Config::storage_path, "The database file; empty: presetbridge.db in data_dir"},
    Setting{"storage.readers", &Config::storage_readers, "Database connections for reading", 1, 64},
    Setting{"storage.cache_mib", &Config::storage_cache_mib, "Page cache of each database connection, in MiB",
            1, 4'096},
    Setting{"storage.checkpoint_pages", &Config::storage_checkpoint_pages,
            "Pages of the write-ahead log (4 KiB each) at which it is checkpointed; a higher number makes "
            "checkpoints rarer and longer",
            100, 1'000'000},
    Setting{"retention.payload_days", &Config::retention_payload_days,
            "Retention of the orders' payloads, from the newest event of an order", 1, 36'500},
    Setting{"retention.outbound_days", &Config::retention_outbound_days,
            "Retention of outbound events, their bodies and delivery attempts", 2, 36'500},
    Setting{"retention.timeline_days", &Config::retention_timeline_days,
            "Retention of each attempt on a delivery; older ones are summed up in one entry", 7, 36'500},
    Setting{"retention.usage_days", &Config::retention_usage_days,
            "Retention of usage by the hour; older usage is stored by the day", kFewestUsageDays,
            kMostUsageDays},
    Setting{"retention.audit_days", &Config::retention_audit_days, "Retention of the audit log", 1, 36'500},
    Setting{"shutdown.drain_seconds", &Config::shutdown_drain_seconds,
            "Time that running requests and jobs get at a shutdown", 1, 8},
};

// Variables of the environment that verbs read themselves.
constexpr std::array<std::string_view, 4> kNoSettings = {"PRESETBRIDGE_CONFIG", "PRESETBRIDGE_LISTEN_SECRET",
                                                         "PRESETBRIDGE_ORDER_SECRET", "PRESETBRIDGE_API_KEY"};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

std::string spelled(std::string_view key, char separator, bool upper) {
  std::string name(key);
  for (char& c : name) {
    if (c == '.' || c == '_') c = separator;
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string limits_of(const Setting& setting) {
  return fmt::format("must be a whole number from {} to {}", setting.min, setting.max);
}

class Loader {
 public:
  explicit Loader(LoadedConfig& into) : into_(into) {}

  void file(const std::filesystem::path& path);
  void environment(const std::vector<std::pair<std::string, std::string>>& variables);
  void flags(const std::vector<std::pair<std::string, std::string>>& flags);

 private:
  void problem(std::string where, std::string what) {
    into_.problems.push_back({std::move(where), std::move(what)});
  }
  void table(const toml::table& table, const std::string& prefix);
  void node(const Setting& setting, const toml::node& node);
  // A value that is text at its source, and `where` a person finds it.
  void text(const Setting& setting, const std::string& where, const std::string& value);
  void integer(const Setting& setting, const std::string& where, std::int64_t value);

  LoadedConfig& into_;
};

// `spell` gives the name of a setting at the source.
template <class Spell>
std::string not_a_setting(std::string_view name, const Spell& spell) {
  std::vector<std::string> known;
  for (const auto& setting : settings()) known.emplace_back(spell(setting));
  const auto nearest = nearest_name(name, known);
  return nearest ? "is not a setting; is " + *nearest + " meant?" : "is not a setting";
}

const Setting* find_setting(std::string_view key) {
  const auto found = std::ranges::find(kSettings, key, &Setting::key);
  return found == kSettings.end() ? nullptr : &*found;
}

void Loader::integer(const Setting& setting, const std::string& where, std::int64_t value) {
  if (value < setting.min || value > setting.max) return problem(where, limits_of(setting));
  into_.config.*std::get<std::int64_t Config::*>(setting.member) = value;
}

void Loader::text(const Setting& setting, const std::string& where, const std::string& value) {
  std::visit(Overloaded{
                 [&](std::string Config::* member) { into_.config.*member = value; },
                 [&](std::int64_t Config::*) {
                   std::int64_t number = 0;
                   const auto [end, error] =
                       std::from_chars(value.data(), value.data() + value.size(), number);
                   if (error != std::errc{} || end != value.data() + value.size())
                     return problem(where, limits_of(setting));
                   integer(setting, where, number);
                 },
                 [&](bool Config::* member) {
                   if (value != "true" && value != "false") return problem(where, "must be true or false");
                   into_.config.*member = value == "true";
                 },
                 [&](std::vector<std::string> Config::* member) { into_.config.*member = split(value, ','); },
             },
             setting.member);
}

void Loader::node(const Setting& setting, const toml::node& node) {
  const std::string where(setting.key);
  std::visit(
      Overloaded{
          [&](std::string Config::* member) {
            if (!node.is_string()) return problem(where, "must be a text in quotes");
            into_.config.*member = node.value_or<std::string>("");
          },
          [&](std::int64_t Config::*) {
            if (!node.is_integer()) return problem(where, limits_of(setting));
            integer(setting, where, node.value_or<std::int64_t>(0));
          },
          [&](bool Config::* member) {
            if (!node.is_boolean()) return problem(where, "must be true or false");
            into_.config.*member = node.value_or(false);
          },
          [&](std::vector<std::string> Config::* member) {
            const auto* list = node.as_array();
            if (!list || !std::ranges::all_of(*list, [](const toml::node& n) { return n.is_string(); }))
              return problem(where, "must be a list of texts in quotes");
            auto& texts = into_.config.*member;
            texts.clear();
            for (const auto& text : *list) texts.push_back(text.value_or<std::string>(""));
          },
      },
      setting.member);
}

void Loader::table(const toml::table& table, const std::string& prefix) {
  for (const auto& [name, value] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const auto* setting = find_setting(key)) {
      node(*setting, value);
    } else if (value.is_table() && prefix.empty()) {
      this->table(*value.as_table(), key + ".");
    } else {
      problem(key, not_a_setting(key, std::mem_fn(&Setting::key)));
    }
  }
}

void Loader::file(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  const auto unread = [&](const char* why) {
    into_.file_read = false;
    problem(path.string(), why);
  };
  if (error || !stream) return unread("cannot be read");
  if (size > kLongestFile) return unread("is longer than 1 MiB");
  std::ostringstream content;
  content << stream.rdbuf();
  try {
    table(toml::parse(content.str()), "");
  } catch (const toml::parse_error& broken) {
    problem(fmt::format("{}:{}", path.string(), broken.source().begin.line),
            std::string(broken.description()));
  }
}

void Loader::environment(const std::vector<std::pair<std::string, std::string>>& variables) {
  for (const auto& [name, value] : variables) {
    if (!name.starts_with("PRESETBRIDGE_") || std::ranges::find(kNoSettings, name) != kNoSettings.end())
      continue;
    const auto found = std::ranges::find(kSettings, name, environment_name);
    if (found == kSettings.end()) {
      problem(name, not_a_setting(name, environment_name));
    } else {
      text(*found, name, value);
    }
  }
}

void Loader::flags(const std::vector<std::pair<std::string, std::string>>& flags) {
  for (const auto& [key, value] : flags) {
    const auto* setting = find_setting(key);
    if (!setting) {
      problem(key, "is not a setting");
    } else {
      text(*setting, "--" + flag_name(*setting), value);
    }
  }
}

// The default that an empty text stands for, as a comment of one line.
std::string meaning_of_empty(const Config& config, const Setting& setting) {
  const auto own_url = "http://" + config.listen;
  std::string meaning;
  if (setting.key == "base_url") meaning = own_url;
  if (setting.key == "identity.issuer") meaning = config.base_url.empty() ? own_url : config.base_url;
  if (setting.key == "storage.path")
    meaning = (std::filesystem::path(config.data_dir) / "presetbridge.db").string();
  if (meaning.empty()) return "  # not set";
  std::ostringstream quoted;
  quoted << toml::toml_formatter(toml::value(meaning), toml::format_flags::none);
  return "  # not set: " + quoted.str();
}

}  // namespace

std::span<const Setting> settings() {
  return kSettings;
}

std::string environment_name(const Setting& setting) {
  return "PRESETBRIDGE_" + spelled(setting.key, '_', true);
}

std::string flag_name(const Setting& setting) {
  return spelled(setting.key, '-', false);
}

std::optional<ListenAddress> parse_listen(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  auto host = text.substr(0, colon);
  const auto port_text = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.contains(':')) return std::nullopt;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc{} || end != port_text.data() + port_text.size()) return std::nullopt;
  // The system checks the zone, as in fe80::1%eth0.
  const std::string numeric(bracketed ? host.substr(0, host.find('%')) : host);
  in6_addr parsed{};
  if (::inet_pton(bracketed ? AF_INET6 : AF_INET, numeric.c_str(), &parsed) != 1) return std::nullopt;
  return ListenAddress{std::string(host), port};
}

bool has_role(const Config& config, std::string_view role) {
  return std::ranges::find(config.roles, role) != config.roles.end();
}

int thread_count(const Config& config) {
  if (config.threads > 0) return static_cast<int>(config.threads);
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 256U));
}

bool opens_logins(const Config& config) {
  return has_role(config, "worker") || config.database_url.empty();
}

LoadedConfig load_config(const ConfigSources& sources) {
  LoadedConfig loaded;
  Loader loader(loaded);
  if (sources.file) loader.file(*sources.file);
  if (!loaded.file_read) return loaded;
  loader.environment(sources.environment);
  loader.flags(sources.flags);
  // The simulator's default address, so that --sandbox needs no other setting.
  if (loaded.config.sandbox && loaded.config.cloud_url.empty())
    loaded.config.cloud_url = "http://127.0.0.1:8090";
  for (auto& problem : check_config(loaded.config)) loaded.problems.push_back(std::move(problem));
  return loaded;
}

std::string flag_value(const Setting& setting, const Config& config) {
  return std::visit(Overloaded{
                        [&](std::string Config::* member) { return config.*member; },
                        [&](std::int64_t Config::* member) { return std::to_string(config.*member); },
                        [&](bool Config::* member) { return std::string(config.*member ? "true" : "false"); },
                        [&](std::vector<std::string> Config::* member) {
                          return fmt::format("{}", fmt::join(config.*member, ","));
                        },
                    },
                    setting.member);
}

std::string to_toml(const Config& config) {
  std::ostringstream text;
  std::string_view table;
  for (const auto& setting : kSettings) {
    const auto dot = setting.key.find('.');
    const auto of = dot == std::string_view::npos ? std::string_view() : setting.key.substr(0, dot);
    if (of != table) text << "\n[" << of << "]\n";
    table = of;
    text << setting.key.substr(of.empty() ? 0 : dot + 1) << " = ";
    std::visit(Overloaded{
                   [&](std::vector<std::string> Config::* member) {
                     toml::array list;
                     for (const auto& one : config.*member) list.push_back(one);
                     text << list;
                   },
                   [&](std::string Config::* member) {
                     text << toml::value(config.*member);
                     if ((config.*member).empty()) text << meaning_of_empty(config, setting);
                   },
                   [&](auto member) { text << toml::value(config.*member); },
               },
               setting.member);
    text << '\n';
  }
  return text.str();
}

}  // namespace presetbridge::app
