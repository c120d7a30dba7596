#include "app/admin/admin_channel.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <system_error>
#include <utility>

#include "app/admin/admin_request.h"
#include "app/foundation/foundation.h"
#include "crypto/key_file.h"
#include "crypto/random.h"
#include "net/curl_client.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;

constexpr std::string_view kPath = "/internal/admin";
constexpr std::string_view kTokenPrefix = "pdb_admin_";
constexpr std::string_view kBearer = "Bearer ";
constexpr Millis kDeadline{180'000};  // of a refund, which is some calls of the payment processor
constexpr std::size_t kLongestAnswer = 4 * 1024 * 1024;

struct DoorDeps {
  AdminCommands& admin_commands;
  crypto::Sha256 token_hash;
};

Task<api::Reply> answer(DoorDeps deps, api::Call call) {
  const auto header = call.request.headers.get("authorization").value_or("");
  const auto presented = header.starts_with(kBearer)
                             ? crypto::opaque_token_hash(kTokenPrefix, header.substr(kBearer.size()))
                             : std::nullopt;
  if (!presented || !crypto::equal_constant_time(*presented, deps.token_hash))
    co_return std::unexpected(api::unauthorized());
  std::error_code error;
  auto request = json::parse(call.request.body, error);
  if (error || !request.is_object()) co_return fail("VALIDATION_FAILED", "The body must be a JSON object.");
  auto done = co_await deps.admin_commands.run(call.executor(), std::move(request.get_object()));
  if (!done) co_return std::unexpected(done.error());
  co_return api::json_response(200, *done);
}

// Runs a task on core 0 of a runtime of its own, to its end.
template <class T, class Make>
Expected<T> run_alone(net::Runtime& runtime, Make make) {
  std::promise<Expected<T>> ended;
  Scheduler& core = runtime.scheduler(0);
  core.post([&] {
    spawn(make(core), [&ended](Outcome<Expected<T>> outcome) {
      ended.set_value(outcome.value ? std::move(*outcome.value)
                                    : fail("INTERNAL_ERROR", "Something went wrong here."));
    });
  });
  return ended.get_future().get();
}

Task<Expected<json::object>> start_and_run(Executor& executor, identity::BuiltInIssuer& issuer,
                                           AdminCommands& admin_commands, json::object request) {
  if (auto started = co_await issuer.start(executor); !started) co_return std::unexpected(started.error());
  co_return co_await admin_commands.run(executor, std::move(request));
}

Expected<json::object> run_here(const Config& config, Foundation foundation, const json::object& request) {
  const auto issuer_known = known_issuer(config, *foundation.open.database);
  if (!issuer_known) return std::unexpected(issuer_known.error());
  NullLog log;
  crypto::SystemRandom random;
  const crypto::ServiceCipher cipher(std::move(foundation.service_keys), random);
  IdSource ids(*foundation.open.clock, foundation.node_number);
  net::Runtime runtime(1);
  storage::AsyncDatabase async_db(*foundation.open.database, log);
  const crypto::PasswordHasher hasher;
  identity::PasswordWorkers passwords(hasher, {.threads = 1});
  identity::BuiltInIssuer issuer(
      {async_db, passwords, hasher, cipher, ids, random, *foundation.open.clock, log},
      {.iss = *issuer_known,
       .signup = identity::Signup::open,
       .signup_credits = config.credits_signup_credits});
  services::Credits credits(async_db, ids, [] {});
  services::ApiKeys keys(async_db, ids, random, *foundation.open.clock, log,
                         {.rate_limit = config.api_key_requests_per_hour});
  PurchaseAdmin purchases(async_db, ids);
  services::DisabledAccounts disabled(async_db, ids, *foundation.open.clock);
  AdminCommands admin_commands({async_db, issuer, credits, keys, disabled, purchases, ids});
  runtime.start();
  auto done = run_alone<json::object>(
      runtime, [&](Executor& executor) { return start_and_run(executor, issuer, admin_commands, request); });
  passwords.stop();
  async_db.shutdown();
  runtime.stop();
  if (!config.database_url.empty())
    give_number_back(*foundation.open.database, foundation.node_number, foundation.node);
  return done;
}

Task<Expected<net::HttpResult>> post(net::HttpClient& http, Executor& executor,
                                     net::OutgoingRequest request) {
  co_return co_await http.send(executor, std::move(request));
}

// Whether the command, done twice, does what it does once.
bool is_repeatable(const json::object& request) {
  return text_of(request, "command") != "grant-credits";
}

// SERVICE_UNREACHABLE: it was not asked, or may be asked again. OUTCOME_UNKNOWN: it may have done something
// that must not be done twice.
Expected<json::object> ask_service(const DataDirectory& directory, const json::object& request) {
  const auto unreachable = [](const char* why) {
    return fail(
        "SERVICE_UNREACHABLE",
        std::string("Another process is at work in this data directory, and cannot be asked: ") + why + ".");
  };
  const auto unanswered = [&](const char* why) {
    if (is_repeatable(request)) return unreachable(why);
    return fail("OUTCOME_UNKNOWN",
                std::string("The service was asked, and the credits may have been granted: ") + why +
                    ". Check the account's ledger before you grant them again.");
  };
  const auto file = crypto::read_key_file(directory.admin_channel, crypto::KeyFileAccess::secret);
  if (!file) return unreachable("its admin.channel cannot be read");
  const auto lines =
      crypto::parse_key_lines(directory.admin_channel, file->reveal(), "presetbridge-admin", 2);
  if (!lines || lines->size() != 1) return unreachable("its admin.channel is damaged");

  net::Runtime runtime(1);
  net::SystemResolver resolver;
  net::CurlClient http(runtime, 0, resolver);
  runtime.start();
  net::OutgoingRequest outgoing;
  outgoing.url = std::string(lines->front()[0]) + std::string(kPath);
  outgoing.headers = {{"Authorization", std::string(kBearer) + std::string(lines->front()[1])},
                      {"Content-Type", "application/json"}};
  outgoing.body = json::serialize(request);
  outgoing.policy = net::AddressPolicy::configured;
  outgoing.deadline = kDeadline;
  outgoing.max_answer_bytes = kLongestAnswer;
  auto result = run_alone<net::HttpResult>(
      runtime, [&](Executor& executor) { return post(http, executor, std::move(outgoing)); });
  http.stop();
  runtime.stop();
  if (!result) return std::unexpected(result.error());
  const auto* answered = result->answer();
  if (!answered) {
    const char* const why = "it does not answer";
    return result->failure()->effect_unknown() ? unanswered(why) : unreachable(why);
  }
  std::error_code error;
  auto body = json::parse(answered->body, error);
  if (error || !body.is_object()) return unanswered("its answer makes no sense");
  if (answered->status == 200) return std::move(body.get_object());
  const auto* message = body.as_object().if_contains("error");
  if (message && message->is_object() && message->get_object().contains("message")) {
    Error refused{
        text_of(message->get_object(), "code"), std::string(message->at("message").as_string()), {}};
    if (const auto* details = message->get_object().if_contains("details"); details && details->is_array()) {
      for (const auto& detail : details->get_array())
        refused.details.push_back(
            {std::string(detail.at("field").as_string()), std::string(detail.at("problem").as_string())});
    }
    return std::unexpected(std::move(refused));
  }
  return unanswered("its answer makes no sense");
}

// Never a new deployment: a mistyped folder would get one, and the account in it nobody to serve it.
Expected<void> check_deployment(const Config& config, const DataDirectory& directory) {
  std::error_code error;
  if (config.database_url.empty() && !std::filesystem::exists(directory.database, error)) {
    return fail("NO_DATABASE", "There is no database " + directory.database.string() +
                                   ": check --data-dir; `presetbridge serve` makes a new deployment.");
  }
  if (!config.database_url.empty() && !std::filesystem::exists(directory.service_key, error)) {
    return fail("KEY_FILE_MISSING", "There is no service key " + directory.service_key.string() +
                                        ": check --data-dir, which is that of a node of the deployment.");
  }
  return {};
}

}  // namespace

AdminChannel::AdminChannel(std::filesystem::path file, crypto::Sha256 token_hash)
    : file_(std::move(file)), token_hash_(token_hash) {}

AdminChannel::AdminChannel(AdminChannel&& other) noexcept
    : file_(std::exchange(other.file_, {})), token_hash_(other.token_hash_) {}

AdminChannel::~AdminChannel() {
  if (file_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

Expected<AdminChannel> AdminChannel::open(std::filesystem::path file, const std::string& url,
                                          Random& random) {
  const auto token = crypto::generate_opaque_token(random, kTokenPrefix);
  const std::string line = "presetbridge-admin " + url + " " + token.text + "\n";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // of a service that was killed
  if (auto written = crypto::create_key_file(file, line, crypto::KeyFileAccess::secret); !written)
    return std::unexpected(written.error());
  return AdminChannel(std::move(file), token.hash);
}

void AdminChannel::add_route(api::Router& router, AdminCommands& admin_commands) const {
  router.add("POST", std::string(kPath), api::Access::open(),
             api::with(DoorDeps{admin_commands, token_hash_}, answer));
}

Expected<json::object> ask_running_service(const Config& config, const json::object& request) {
  const auto directory = data_directory(config);
  auto answer = ask_service(directory, request);
  if (answer || answer.error().code != "SERVICE_UNREACHABLE") return answer;
  if (auto there = check_deployment(config, directory); !there) return std::unexpected(there.error());
  return fail("SERVICE_NOT_RUNNING", "No service is at work in " + directory.folder.string() +
                                         ", or it does not answer, and only a running one can do this: start "
                                         "it, and run the same command again.");
}

Expected<json::object> administrate(const Config& config, const json::object& request) {
  const auto directory = data_directory(config);
  std::error_code error;
  // A service that runs on this directory knows its database and its keys. A killed one may have left its
  // file.
  if (std::filesystem::exists(directory.admin_channel, error)) {
    auto answer = ask_service(directory, request);
    if (answer || answer.error().code != "SERVICE_UNREACHABLE") return answer;
  }
  if (error) {
    return fail("DATA_DIR_UNUSABLE", "The data directory " + directory.folder.string() +
                                         " cannot be read: " + error.message() + ".");
  }
  if (auto there = check_deployment(config, directory); !there) return std::unexpected(there.error());
  NullLog log;
  auto foundation = lay_foundation(config, log);
  if (foundation) return run_here(config, std::move(*foundation), request);
  if (foundation.error().code != "STORAGE_LOCKED") return std::unexpected(foundation.error());
  return ask_service(directory, request);
}

}  // namespace presetbridge::app
