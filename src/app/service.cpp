#include "app/service.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <optional>
#include <thread>

#include "api/account_handlers.h"
#include "api/api.h"
#include "api/auth_handlers.h"
#include "api/buyer_handlers.h"
#include "api/credentials_handlers.h"
#include "api/credits_handlers.h"
#include "api/deliveries_handlers.h"
#include "api/integrations_handlers.h"
#include "api/keys_handlers.h"
#include "api/meta_handlers.h"
#include "api/pages_handlers.h"
#include "api/stores_handlers.h"
#include "api/subscriptions_handlers.h"
#include "api/webhook_events_handlers.h"
#include "api/webhook_handlers.h"
#include "app/admin_channel.h"
#include "app/admin_desk.h"
#include "app/client_networks.h"
#include "app/endings.h"
#include "app/foundation.h"
#include "app/front.h"
#include "app/metric_families.h"
#include "app/metrics_registry.h"
#include "app/open_files.h"
#include "app/order_desk.h"
#include "app/order_limits.h"
#include "app/readiness.h"
#include "app/version.h"
#include "cloud/agent_client.h"
#include "cloud/credential_agent.h"
#include "cloud/http_cloud.h"
#include "cloud/session_cache.h"
#include "crypto/digest.h"
#include "crypto/random.h"
#include "crypto/service_cipher.h"
#include "identity/built_in_issuer.h"
#include "identity/remote_issuer.h"
#include "net/curl_client.h"
#include "net/http_server.h"
#include "net/network_budget.h"
#include "services/buyer_links.h"
#include "services/buyers.h"
#include "services/census.h"
#include "services/cloud_logins.h"
#include "services/cloud_sessions.h"
#include "services/credential_checks.h"
#include "services/credits.h"
#include "services/delivery/actions.h"
#include "services/dispatcher/webhook_dispatcher.h"
#include "services/housekeeping.h"
#include "services/intake/intake.h"
#include "services/integrations.h"
#include "services/login_guard.h"
#include "services/news_log.h"
#include "services/node_number.h"
#include "services/presets.h"
#include "services/stored_logins.h"
#include "services/subscription_watch.h"
#include "services/subscriptions.h"
#include "services/vault.h"
#include "services/webhook_events.h"
#include "services/worker/delivery_worker.h"
#include "services/worker_calls.h"
#include "storage/postgres/wakeups.h"
#include "storage/write_probe.h"

namespace presetbridge::app {
namespace {

// For what was cut off to be recorded. With the longest drain time all of a stop stays under the ten seconds
// of spec 12.3. spec 12.3.
constexpr Millis kLastCalls{300};

int thread_count(const Config& config) {
  if (config.threads > 0) return static_cast<int>(config.threads);
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 256U));
}

cloud::HttpCloudOptions cloud_options(const Config& config) {
  cloud::HttpCloudOptions options;
  options.base_url = config.cloud_url;
  options.timeout = std::chrono::seconds(config.cloud_timeout_seconds);
  options.paths = {.login = config.cloud_login_path,
                   .user_by_name = config.cloud_user_path,
                   .friendships = config.cloud_friendships_path,
                   .friendship = config.cloud_friendship_path,
                   .files = config.cloud_files_path,
                   .share = config.cloud_share_path};
  return options;
}

cloud::AgentProcessOptions agent_options(const Config& config, const DataDirectory& directory) {
  cloud::AgentOptions agent;
  agent.cloud = cloud_options(config);
  if (opens_logins(config)) agent.key_file = std::filesystem::absolute(directory.vault_private_key).string();
  cloud::AgentProcessOptions options;
  options.arguments = {"presetbridge", "credential-agent"};
  for (auto& argument : cloud::agent_arguments(agent)) options.arguments.push_back(std::move(argument));
  options.login_deadline = agent.cloud.timeout + Millis{5'000};
  return options;
}

std::vector<std::unique_ptr<identity::RemoteIssuer>> remote_issuers(const Config& config,
                                                                    net::HttpClient& http, const Clock& clock,
                                                                    Log& log) {
  std::vector<std::unique_ptr<identity::RemoteIssuer>> issuers;
  for (const auto& trusted : config.identity_trusted) {
    const auto space = trusted.find(' ');
    identity::RemoteIssuerOptions options;
    options.iss = trusted.substr(0, space);
    options.audience = trusted.substr(trusted.find_first_not_of(' ', space));
    issuers.push_back(std::make_unique<identity::RemoteIssuer>(std::move(options), http, clock, log));
  }
  return issuers;
}

// The key that e-mail addresses of logins are hashed with: of the service key, so that it need not be kept
// besides.
std::string login_guard_key_of(const crypto::ServiceKey& key) {
  const auto derived = crypto::hmac_sha256(key.key.reveal(), std::string_view("presetbridge login guard"));
  return std::string(crypto::text_of(derived));
}

}  // namespace

// In the order of construction: each is given only what stands above it, and is destroyed before that.
struct Service::Parts {
  Parts(Config config, Foundation foundation, JsonLog& log, std::function<void()> on_fault);

  void add_routes();
  std::string metrics_text();
  template <class One>
  Expected<void> start_one(One& one, std::string_view what);
  Expected<void> start();
  void stop(Millis gone, const std::function<void(const char*)>& at);
  std::string url() const { return http_url(listen.address, server.port()); }

  const Config config;
  const DataDirectory directory;
  const ListenAddress listen = *parse_listen(config.listen);
  const std::optional<storage::FileLock> lock;
  const std::string node;
  const int node_number;
  const std::unique_ptr<Clock> database_clock;  // the database has its address
  const Clock& clock = *database_clock;
  crypto::SystemRandom random;
  JsonLog& log;
  MetricsRegistry metrics;
  std::unique_ptr<storage::Database> database;
  const crypto::VaultPublicKey vault_key;
  const std::string login_guard_key;

  cloud::AgentProcess agent{log, agent_options(config, directory)};  // before any thread
  const bool log_has_thread = (log.start_thread(), true);

  const crypto::ServiceCipher cipher;
  IdSource ids{clock, node_number};
  net::Runtime runtime{thread_count(config)};
  const services::NewsLog news_log{log, metrics};
  storage::GroupCommit commits{*database,
                               log,
                               {.writers = shared() ? static_cast<int>(config.storage_writers) : 1,
                                .readers = static_cast<int>(config.storage_readers),
                                .max_units = shared() ? 1U : storage::GroupCommit::Options{}.max_units,
                                .clock = &clock,
                                .probe = storage::write_probe,
                                .tell = [this](const storage::News& news) { news_log.tell(news); }}};
  // Receivers' names are anybody's: ones that never answer must not hold up the platform's.
  net::SystemResolver resolver;
  net::SystemResolver outbound_resolver;
  const int worker_core = runtime.cores() - 1;
  const int dispatcher_core = std::max(0, runtime.cores() - 2);
  net::CurlClient cloud_http{runtime,
                             worker_core,
                             resolver,
                             {.calls = static_cast<int>(config.cloud_concurrency),
                              .calls_per_host = static_cast<int>(config.cloud_concurrency)}};
  net::CurlClient outbound_http{runtime,
                                dispatcher_core,
                                outbound_resolver,
                                {.calls = static_cast<int>(config.outbound_concurrency),
                                 .calls_per_host = static_cast<int>(config.outbound_concurrency_per_host)}};

  // Lists of files are read for whoever asks; deliveries do not queue behind them. Issuers' keys likewise.
  net::CurlClient reading_http{runtime, 0, resolver, {.calls = 32, .calls_per_host = 16}};

  // Of requests and of sign-ins that fail, by client network (spec 8.6).
  net::NetworkBudget failed_requests{clock, trusted_proxies(config), failed_request_limits(config)};
  net::NetworkBudget failed_sign_ins{clock, trusted_proxies(config), failed_sign_in_limits(config)};

  const crypto::PasswordHasher hasher;
  identity::PasswordWorkers passwords{hasher, {}};
  identity::BuiltInIssuer issuer{
      {commits, passwords, hasher, cipher, ids, random, clock, log},
      {.iss = issuer_name(config),
       .signup = *identity::parse_signup(config.identity_signup),
       .signups = identity::SignUpLimits{.per_address = config.identity_signups_per_address,
                                         .together = config.identity_signups_per_hour}}};
  const std::vector<std::unique_ptr<identity::RemoteIssuer>> trusted =
      remote_issuers(config, reading_http, clock, log);
  identity::TokenVerifier tokens{all_issuers(), clock};
  services::Accounts accounts{commits, ids, *identity::parse_signup(config.identity_signup)};
  services::ApiKeys keys{commits, ids, random, log, {.rate_limit = config.api_key_requests_per_hour}};

  services::DeliveryChanges changes{ids, random, config.credits_low_threshold};
  services::IntegrationDirectory integrations{commits, cipher, clock};
  cloud::HttpCloud cloud{cloud_http, clock, cloud_options(config)};
  cloud::SessionCache sessions{runtime.scheduler(worker_core), clock, agent};
  services::DeliveryWorker worker{
      {runtime.scheduler(worker_core), clock, random, log, metrics, commits, cloud, sessions, changes,
       [this] { work_came(); }},
      {.owner = node,
       .jobs_per_minute = static_cast<int>(config.delivery_jobs_per_minute),
       .jobs_per_minute_total = static_cast<int>(config.delivery_jobs_per_minute_total),
       .max_jobs = static_cast<int>(config.delivery_max_jobs),
       .lease = std::chrono::seconds(config.delivery_lease_seconds),
       .poll = Millis(config.delivery_poll_ms),
       .maintenance = Millis(config.delivery_maintenance_ms),
       .sweep_page = static_cast<int>(config.delivery_sweep_page),
       .first_sweep = std::chrono::seconds(config.delivery_first_sweep_seconds)}};
  services::WebhookDispatcher dispatcher{
      {runtime.scheduler(dispatcher_core), clock, ids, log, metrics, commits, outbound_http, cipher},
      {.sandbox = config.sandbox,
       .max_sends = static_cast<int>(config.outbound_concurrency),
       .per_host = static_cast<int>(config.outbound_concurrency_per_host)}};
  services::SubscriptionWatch subscription_watch{
      runtime.scheduler(dispatcher_core), commits, ids, random, log, [this] { work_came(); }};
  services::ShopErasure shop_erasure{runtime.scheduler(dispatcher_core), commits, changes, log};
  services::Intake intake{commits, changes, clock, [this] { work_came(); }, [this] { shop_erasure.wake(); }};
  services::StoreTally store_tally{runtime.scheduler(0), commits, ids, clock, log};

  services::LoginGuard login_guard{commits, ids, login_guard_key};
  services::CloudSessions cloud_sessions{runtime.scheduler(worker_core), sessions};
  services::CloudLogins cloud_logins{commits, ids, random, cipher, agent, login_guard};
  cloud::HttpCloud reading_cloud{reading_http, clock, cloud_options(config)};
  services::OwnStoredLogins own_logins{commits, reading_cloud, agent, cloud_sessions, cloud_logins};
  services::AskedStoredLogins asked_logins{runtime.scheduler(worker_core), commits, ids, clock,
                                           [this] { tell_others(); }};
  services::StoredLogins& stored_logins =
      opens_logins(config) ? static_cast<services::StoredLogins&>(own_logins) : asked_logins;
  services::WorkerCallDesk worker_calls{runtime.scheduler(worker_core), commits, own_logins, log,
                                        [this] { tell_others(); }};
  services::Vault vault{{.commits = commits,
                         .ids = ids,
                         .random = random,
                         .log = log,
                         .agent = agent,
                         .stored = stored_logins,
                         .guard = login_guard,
                         .key = vault_key,
                         .forget_sessions = [this](AccountId account) { cloud_sessions.invalidate(account); },
                         .retire_sessions = [this](AccountId account) { cloud_sessions.retire(account); },
                         .changed = [this] { work_came(); }}};
  services::CredentialChecks credential_checks{runtime.scheduler(worker_core), vault, log};
  services::Housekeeping housekeeping{runtime.scheduler(dispatcher_core),
                                      commits,
                                      log,
                                      {.payloads = std::chrono::days(config.retention_payload_days),
                                       .outbound = std::chrono::days(config.retention_outbound_days),
                                       .audit_log = std::chrono::days(config.retention_audit_days)}};
  services::Presets presets{commits, stored_logins, cloud_logins, clock};
  services::Integrations stores{commits,
                                ids,
                                random,
                                cipher,
                                integrations,
                                [this] { work_came(); },
                                {.of_store = static_cast<std::size_t>(config.limits_mappings),
                                 .of_key = static_cast<std::size_t>(config.limits_mappings_per_key)}};
  services::Subscriptions subscriptions{
      commits,
      ids,
      random,
      cipher,
      config.sandbox ? net::AddressPolicy::sandbox_receivers : net::AddressPolicy::public_https,
      [this] { work_came(); }};
  services::WebhookEvents webhook_events{commits, ids, [this] { work_came(); }};
  services::Credits credits{commits, ids, [this] { work_came(); }};
  services::DeliveryActions deliveries{commits, changes, static_cast<int>(config.delivery_jobs_per_minute),
                                       [this] { work_came(); }};
  services::BuyerLinks links{commits, cipher, ids, random};
  services::Buyers buyers{commits, links, deliveries, [this] { work_came(); }};
  // Of one delivery's link: a page that follows it in some windows, and no more.
  net::KeyBudget buyer_looks{clock, {.times = 120, .window = std::chrono::minutes{1}}};

  OrderDesk order_desk{{commits, changes, integrations, runtime.scheduler(dispatcher_core), log,
                        std::chrono::days(config.retention_payload_days), [this] { work_came(); }}};

  // The operator makes accounts also where sign-up is closed.
  identity::BuiltInIssuer operators_issuer{{commits, passwords, hasher, cipher, ids, random, clock, log},
                                           {.iss = issuer_name(config), .signup = identity::Signup::open}};
  AdminDesk admin_desk{{commits, operators_issuer, credits, keys}};
  std::optional<AdminChannel> admin_channel;

  api::Router router;
  api::Authentication authentication{tokens, accounts, keys};
  api::Api handlers{router, authentication, failed_requests, clock, log, metrics};
  Front front;
  net::HttpServer server{runtime, front, random, log, server_options(config, listen)};
  services::NodeNumber own_number{
      runtime.scheduler(0),  commits, log, node_number, node, fmt::format("{}", fmt::join(config.roles, ",")),
      [this] { on_fault(); }};
  services::Census census{runtime.scheduler(0),
                          clock,
                          commits,
                          log,
                          metrics,
                          {.only_node = shared() ? std::vector<std::string>() : config.roles}};
  std::optional<storage::Wakeups> other_nodes;  // with a database that is shared
  const std::function<void()> on_fault;
  bool started = false;  // the runtime's threads
  bool working = false;  // what this node's roles have it do besides
  bool stopped = false;

 private:
  std::vector<identity::Issuer*> all_issuers() {
    std::vector<identity::Issuer*> all{&issuer};
    for (const auto& one : trusted) all.push_back(one.get());
    return all;
  }
  bool shared() const { return !config.database_url.empty(); }
  // Committed work: whoever does it need not wait for the next poll.
  void work_came() {
    look_for_work();
    tell_others();
  }
  void tell_others() {
    if (other_nodes) other_nodes->tell();
  }
  void look_for_work() {
    worker.wake();
    dispatcher.wake();
  }
  void others_have_told() {
    look_for_work();
    asked_logins.wake();
    worker_calls.wake();
  }
};

Service::Parts::Parts(Config the_config, Foundation foundation, JsonLog& the_log,
                      std::function<void()> the_end)
    : config(std::move(the_config)),
      directory(std::move(foundation.directory)),
      lock(std::move(foundation.lock)),
      node(std::move(foundation.node)),
      node_number(foundation.node_number),
      database_clock(std::move(foundation.open.clock)),
      log(the_log),
      database(std::move(foundation.open.database)),
      vault_key(foundation.vault_key),
      login_guard_key(login_guard_key_of(foundation.service_keys.front())),
      cipher(std::move(foundation.service_keys), random),
      on_fault(std::move(the_end)) {}

void Service::Parts::add_routes() {
  api::add_health_routes(
      router,
      {.readiness = [this](Executor& on) { return readiness(on, runtime.scheduler(0), commits, agent); },
       .metrics_text =
           config.http_metrics ? [this] { return metrics_text(); } : std::function<std::string()>()});
  admin_channel->add_route(router, admin_desk);
  if (!has_role(config, "api")) return;
  api::add_about_routes(
      router, {.version = std::string(kVersion), .commit = std::string(kCommit), .sandbox = config.sandbox});
  api::add_pages_routes(router, {.version = std::string(kVersion), .sandbox = config.sandbox});
  api::add_auth_routes(router, {issuer, trusted_proxies(config), failed_sign_ins, failed_requests});
  api::add_account_routes(router, {accounts});
  api::add_keys_routes(router, {keys});
  api::add_credentials_routes(router, {vault});
  api::add_login_routes(router, {cloud_logins});
  api::add_presets_routes(router, {presets});
  api::add_credits_routes(router, {credits, config.credits_low_threshold});
  const std::string base_url = config.base_url.empty() ? url() : config.base_url;
  api::add_deliveries_routes(router, {deliveries, links, base_url});
  api::add_buyer_routes(router, {.buyers = buyers,
                                 .failures = failed_requests,
                                 .looks = buyer_looks,
                                 .platform = {.name = config.cloud_name,
                                              .friend_requests_url = config.cloud_friend_requests_url,
                                              .app_url = config.cloud_app_url}});
  api::add_integrations_routes(router, {stores, presets, base_url});
  api::add_subscriptions_routes(router, {subscriptions});
  order_desk.add_routes(router);
  api::add_webhook_events_routes(router, {webhook_events});
  const api::WebhookDeps webhooks{.integrations = integrations,
                                  .intake = intake,
                                  .commits = commits,
                                  .clock = clock,
                                  .metrics = metrics,
                                  .failures = failed_requests,
                                  .limits = order_limits(config),
                                  .tally = &store_tally};
  api::add_webhook_routes(router, webhooks);
  api::add_stores_routes(router,
                         {services::Products(commits), services::MappingPreviews(commits, stores.limits()),
                          services::TestOrders(commits, integrations, ids, clock), webhooks});
}

// With what is known without a look into the database.
std::string Service::Parts::metrics_text() {
  const auto flag = [](bool yes) { return yes ? 1.0 : 0.0; };
  metrics.set("presetbridge_storage_in_trouble", flag(commits.writes_in_trouble()), {{"what", "writes"}});
  metrics.set("presetbridge_storage_in_trouble", flag(commits.reads_in_trouble()), {{"what", "reads"}});
  metrics.set("presetbridge_credential_agent_up", flag(agent.pid() != 0));
  metrics.set("presetbridge_backlog", static_cast<double>(intake.waiting()), {{"stage", "intake"}});
  return metrics.text();
}

// On the first core; `what` is told where it ends by a fault.
template <class One>
Expected<void> Service::Parts::start_one(One& one, std::string_view what) {
  Scheduler& core = runtime.scheduler(0);
  std::promise<Expected<void>> ended;
  core.post([&one, &core, &ended, what] {
    spawn(one.start(core), [&ended, what](Outcome<Expected<void>> outcome) {
      ended.set_value(outcome.value ? std::move(*outcome.value)
                                    : fail("INTERNAL_ERROR", std::string(what) + " could not start."));
    });
  });
  return ended.get_future().get();
}

Expected<void> Service::Parts::start() {
  if (auto listening = server.listen(); !listening) return std::unexpected(listening.error());
  auto channel = AdminChannel::open(directory.admin_channel, url(), random);
  if (!channel) return std::unexpected(channel.error());
  admin_channel.emplace(std::move(*channel));
  add_routes();
  runtime.start();
  started = true;
  show_families(metrics);
  for (auto* one : {&issuer, &operators_issuer}) {
    if (auto done = start_one(*one, "The built-in issuer"); !done) return done;
  }
  if (auto done = start_one(links, "The keys of buyers' links"); !done) return done;
  if (shared()) {
    runtime.run_on(0, [this] { own_number.start(); });
    other_nodes.emplace(storage::WakeupsOptions{.url = config.database_url}, log,
                        [this] { others_have_told(); });
  }
  runtime.run_on(0, [this] {
    census.start();
    store_tally.start();
  });
  if (has_role(config, "worker")) {
    runtime.run_on(worker_core, [this] {
      worker.start();
      credential_checks.start();
      if (shared()) worker_calls.start();
    });
  }
  if (has_role(config, "dispatcher")) {
    runtime.run_on(dispatcher_core, [this] {
      dispatcher.start();
      housekeeping.start();
      shop_erasure.start();
      order_desk.start();
      subscription_watch.start();
    });
  }
  working = true;
  front.open(handlers);
  return {};
}

void Service::Parts::stop(Millis gone, const std::function<void(const char*)>& at) {
  if (std::exchange(stopped, true)) return;
  // A wall clock that is set meanwhile makes no time.
  using Steady = std::chrono::steady_clock;
  const auto drained_by = Steady::now() + std::chrono::seconds(config.shutdown_drain_seconds) - gone;
  const auto until = [](Steady::time_point when) {
    return std::max(std::chrono::duration_cast<Millis>(when - Steady::now()), Millis{0});
  };
  const auto left = [&] { return until(drained_by); };
  at("letting go of work");
  admin_channel.reset();
  if (other_nodes) other_nodes->stop();
  Signal worker_ended;
  Endings others;
  if (working) {
    runtime.run_on(worker_core, [&] {
      worker.stop([&worker_ended] { worker_ended.give(); });
      credential_checks.stop(others.add("the checks of logins did not end"));
      worker_calls.stop(others.add("the answers to other nodes did not end"));
    });
    runtime.run_on(0, [&] { census.stop(others.add("the count for the metrics did not end")); });
    runtime.run_on(dispatcher_core, [&] {
      dispatcher.stop(others.add("the webhook dispatcher did not end"));
      housekeeping.stop(others.add("housekeeping did not end"));
      shop_erasure.stop(others.add("the erasure of shops did not end"));
      order_desk.stop(others.add("the jobs on many orders did not end"));
      subscription_watch.stop(others.add("the watch over subscriptions did not end"));
    });
  }
  outbound_http.stop();  // what is cut off is sent again later, with the same id (spec 10.5)
  at("finishing requests");
  server.stop(left());
  // What came until now is counted, too.
  if (working)
    runtime.run_on(0, [&] { store_tally.stop(others.add("the count of what stores send did not end")); });
  at("finishing jobs");
  if (working && !worker_ended.wait_for(left()))
    log.warn("calls of the cloud platform are cut off; what came of them is looked up after the next start");
  at("cutting off calls");
  if (started) runtime.run_on(worker_core, [this] { asked_logins.stop(); });
  cloud_http.stop();
  reading_http.stop();
  at("ending the credential agent");
  agent.stop();
  at("recording what was cut off");
  if (working) {
    const auto recorded_by = Steady::now() + kLastCalls;
    if (!worker_ended.wait_for(until(recorded_by))) log.error("the delivery worker did not end");
    for (const char* problem : others.wait([&] { return until(recorded_by); })) log.error(problem);
  }
  at("ending the password threads");
  passwords.stop();
  if (working && shared()) {
    Signal renewals_ended;
    runtime.run_on(0, [&] { own_number.stop([&renewals_ended] { renewals_ended.give(); }); });
    if (!renewals_ended.wait_for(kLastCalls)) log.warn("the renewal of the node's number did not end");
  }
  at("committing what waits");
  database->give_up();
  commits.shutdown();
  at("ending the event loops");
  if (started) runtime.stop(kLastCalls);
  at("leaving the other nodes");
  other_nodes.reset();
  if (shared()) give_number_back(*database, node_number, node);  // nothing makes ids any more
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Service::~Service() {
  parts_->stop(Millis{0}, [](const char*) {});
}

Expected<std::unique_ptr<Service>> Service::start(Config config, bool replace_lost_database, JsonLog& log,
                                                  std::function<void()> on_fault) {
  if (auto fits = fit_open_files(config, thread_count(config), log); !fits)
    return std::unexpected(fits.error());
  auto foundation = lay_foundation(config, log, replace_lost_database);
  if (!foundation) return std::unexpected(foundation.error());
  if (auto known = check_issuer(config, *foundation->open.database); !known) {
    if (!config.database_url.empty())
      give_number_back(*foundation->open.database, foundation->node_number, foundation->node);
    return std::unexpected(known.error());
  }
  const bool first = foundation->first;
  auto parts = std::make_unique<Parts>(std::move(config), std::move(*foundation), log, std::move(on_fault));
  std::unique_ptr<Service> service(new Service(std::move(parts)));
  if (auto started = service->parts_->start(); !started) return std::unexpected(started.error());
  if (first) log.info("the database was empty: a new deployment begins");
  return service;
}

std::string Service::url() const {
  return parts_->url();
}

void Service::stop(Millis gone, const std::function<void(const char*)>& at) {
  parts_->stop(gone, at);
}

bool harden_process() {
  const rlimit none{0, 0};
  return ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && ::setrlimit(RLIMIT_CORE, &none) == 0;
}

}  // namespace presetbridge::app
