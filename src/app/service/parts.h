// Every part of the running service (spec 12.3).
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/api.h"
#include "api/web_files.h"
#include "app/admin/admin_channel.h"
#include "app/admin/admin_commands.h"
#include "app/config/client_networks.h"
#include "app/config/cloud_options.h"
#include "app/config/external_issuers.h"
#include "app/config/order_limits.h"
#include "app/config/retention_options.h"
#include "app/config/worker_options.h"
#include "app/foundation/foundation.h"
#include "app/metrics/metrics_registry.h"
#include "app/process/endings.h"
#include "app/service/buyer_parts.h"
#include "app/service/components.h"
#include "app/service/figures_parts.h"
#include "app/service/front.h"
#include "app/service/key_parts.h"
#include "app/service/live_parts.h"
#include "app/service/mail_parts.h"
#include "app/service/order_parts.h"
#include "app/service/payment_parts.h"
#include "app/service/people_parts.h"
#include "app/service/service.h"
#include "app/service/sign_in_parts.h"
#include "cloud/agent_client.h"
#include "cloud/http_cloud.h"
#include "cloud/session_cache.h"
#include "crypto/random.h"
#include "crypto/service_cipher.h"
#include "identity/built_in_issuer.h"
#include "identity/remote_issuer.h"
#include "net/curl_client.h"
#include "net/http_server.h"
#include "net/key_budget.h"
#include "net/network_budget.h"
#include "services/buyers/buyer_links.h"
#include "services/credits/credits.h"
#include "services/delivery/actions.h"
#include "services/dispatcher/webhook_dispatcher.h"
#include "services/intake/reception.h"
#include "services/keys/known_key_agent.h"
#include "services/operation/census.h"
#include "services/operation/housekeeping.h"
#include "services/operation/news_log.h"
#include "services/operation/node_number.h"
#include "services/presets/preset_uses.h"
#include "services/presets/presets.h"
#include "services/stores/integrations.h"
#include "services/vault/cloud_logins.h"
#include "services/vault/cloud_sessions.h"
#include "services/vault/credential_checks.h"
#include "services/vault/login_guard.h"
#include "services/vault/stored_logins.h"
#include "services/vault/vault.h"
#include "services/vault/worker_calls.h"
#include "services/webhooks/subscription_watch.h"
#include "services/webhooks/subscriptions.h"
#include "services/webhooks/webhook_events.h"
#include "services/worker/delivery_worker.h"
#include "storage/commit/write_probe.h"
#include "storage/postgres/wakeups.h"

namespace presetbridge::app {

// In the order of construction: each is given only what stands above it, and is destroyed before that.
struct Service::Parts {
  Parts(Config config, Foundation foundation, std::vector<identity::ExternalIssuerOptions> issuers,
        std::optional<PaymentKeys> payment_keys, std::optional<net::SmtpOptions> smtp, JsonLog& log,
        std::function<void()> on_fault);

  void add_routes();
  void add_api_routes();
  void add_components();
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
  crypto::SealingVaultKey vault_key;

  cloud::AgentProcess agent{log, agent_options(config, directory)};  // before any thread
  const bool log_has_thread = (log.start_thread(), true);

  crypto::ServiceCipher cipher;
  IdSource ids{clock, node_number};
  net::Runtime runtime{thread_count(config)};
  const services::NewsLog news_log{log, metrics};
  LiveParts live_parts{{runtime.scheduler(0), async_db, ids, clock, log, metrics}, config};
  storage::AsyncDatabase async_db{*database,
                                  log,
                                  {.writers = shared() ? static_cast<int>(config.storage_writers) : 1,
                                   .readers = static_cast<int>(config.storage_readers),
                                   .max_units = shared() ? 1U : storage::AsyncDatabase::Options{}.max_units,
                                   .clock = &clock,
                                   .probe = storage::write_probe,
                                   .on_news = [this](const storage::News& news) {
                                     news_log.write(news);
                                     live_parts.report(news);
                                   }}};
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
      {async_db, passwords, hasher, cipher, ids, random, clock, log},
      {.iss = issuer_name(config),
       .signup = *identity::parse_signup(config.identity_signup),
       .signup_credits = config.credits_signup_credits,
       .signups = identity::SignUpLimits{.per_address = config.identity_signups_per_address,
                                         .together = config.identity_signups_per_hour},
       .mail_came = config.mail_url.empty() ? std::function<void()>() : [this] { mail_came(); }}};
  const std::vector<std::unique_ptr<identity::RemoteIssuer>> trusted =
      trusted_issuers(config.identity_trusted, reading_http, clock, log);
  identity::TokenVerifier tokens{all_issuers(), clock};
  services::Accounts accounts{async_db, ids, *identity::parse_signup(config.identity_signup),
                              config.credits_signup_credits,
                              services::Accounts::FoundingLimit{issuer.sign_ups(), clock}};
  services::ApiKeys keys{async_db, ids, random, clock, log, {.rate_limit = config.api_key_requests_per_hour}};

  services::DeliveryChanges changes{ids, random, config.credits_low_threshold, buyer_url()};
  services::DisabledAccounts disabled{async_db, ids, clock};
  services::IntegrationDirectory integrations{async_db, cipher, clock, &disabled};
  cloud::HttpCloud cloud{cloud_http, clock, cloud_options(config)};
  // They open stored logins: for people who wait, and for the worker.
  services::KnownKeyAgent opener{agent, agent, async_db, log};
  services::KnownKeyAgent worker_opener{agent.in_background(), agent, async_db, log};
  cloud::SessionCache sessions{runtime.scheduler(worker_core), clock, worker_opener};
  services::DeliveryWorker worker{
      {runtime.scheduler(worker_core), clock, random, log, metrics, async_db, cloud, sessions, changes,
       [this] {
         dispatcher.wake();
         notify_others();
       }},
      worker_options(config, node)};
  services::WebhookDispatcher dispatcher{
      {runtime.scheduler(dispatcher_core), clock, ids, log, metrics, async_db, outbound_http, cipher},
      {.sandbox = config.sandbox,
       .max_under_way = static_cast<int>(config.outbound_concurrency),
       .per_host = static_cast<int>(config.outbound_concurrency_per_host)}};
  services::SubscriptionWatch subscription_watch{
      runtime.scheduler(dispatcher_core), async_db, ids, random, log, [this] { work_came(); }};
  services::ShopErasure shop_erasure{runtime.scheduler(dispatcher_core), async_db, changes, log};
  services::Intake intake{async_db, changes, clock, [this] { work_came(); }, [this] { shop_erasure.wake(); }};
  services::StoreTally store_tally{runtime.scheduler(0), async_db, ids, clock, log};
  services::Reception reception{{integrations, intake, async_db, clock, metrics, &store_tally},
                                order_limits(config)};

  // E-mail addresses of logins are hashed with a key of the service key, so that it need not be kept besides.
  services::LoginGuard login_guard{
      async_db, ids,
      [this] { return std::string(crypto::text_of(cipher.derived("presetbridge login guard"))); },
      login_limits(config)};
  services::CloudSessions cloud_sessions{runtime.scheduler(worker_core), sessions};
  services::CloudLogins cloud_logins{async_db, ids, random, cipher, agent, login_guard};
  cloud::HttpCloud reading_cloud{reading_http, clock, cloud_options(config)};
  services::OwnStoredLogins own_logins{async_db, reading_cloud, opener, cloud_sessions, cloud_logins, clock};
  services::AskedStoredLogins asked_logins{runtime.scheduler(worker_core), async_db, ids, clock,
                                           [this] { notify_others(); }};
  services::StoredLogins& stored_logins =
      opens_logins(config) ? static_cast<services::StoredLogins&>(own_logins) : asked_logins;
  services::WorkerCallServer worker_calls{runtime.scheduler(worker_core), async_db, own_logins, log,
                                          [this] { notify_others(); }};
  services::Vault vault{{.async_db = async_db,
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
  services::Housekeeping housekeeping{runtime.scheduler(dispatcher_core), async_db, log,
                                      retention_of(config)};
  services::Presets presets{async_db, stored_logins, cloud_logins, clock};
  services::PresetUses preset_uses{async_db};
  services::Integrations stores{async_db,
                                ids,
                                random,
                                cipher,
                                integrations,
                                [this] { work_came(); },
                                {.of_store = static_cast<std::size_t>(config.limits_mappings),
                                 .of_key = static_cast<std::size_t>(config.limits_mappings_per_key)}};
  services::Subscriptions subscriptions{
      async_db,
      ids,
      random,
      cipher,
      config.sandbox ? net::AddressPolicy::sandbox_receivers : net::AddressPolicy::public_https,
      [this] { work_came(); }};
  services::WebhookEvents webhook_events{async_db, ids, [this] { work_came(); }};
  // Limits each account's tests of subscriptions and events that are sent again.
  net::KeyBudget dispatches_by_hand{clock, {.times = 60, .window = std::chrono::minutes{1}}};
  services::Credits credits{async_db, ids, [this] { work_came(); }};
  services::DeliveryActions deliveries{async_db, changes, static_cast<int>(config.delivery_jobs_per_minute),
                                       [this] { work_came(); }};
  FiguresParts figures{config, async_db, keys, clock};
  services::BuyerLinks links{async_db, cipher, ids, random};
  BuyerParts buyers{config, async_db, links, changes, failed_requests, clock, [this] { work_came(); }};

  OrderParts order_parts{{async_db, changes, integrations, deliveries, runtime.scheduler(dispatcher_core),
                          log, std::chrono::days(config.retention_payload_days), [this] { work_came(); }}};

  PeopleParts people{{config, async_db, ids, random, tokens, accounts, failed_requests, vault,
                      [this] { order_parts.job_came(); }}};
  PaymentParts payments;

  // The operator makes accounts also where sign-up is closed.
  identity::BuiltInIssuer operators_issuer{{async_db, passwords, hasher, cipher, ids, random, clock, log},
                                           {.iss = issuer_name(config),
                                            .signup = identity::Signup::open,
                                            .signup_credits = config.credits_signup_credits}};
  MailParts mail;
  SignInParts sign_in_parts;
  KeyParts key_parts{{runtime.scheduler(0), async_db, clock, log, metrics, cipher, vault_key, agent, issuer,
                      operators_issuer, links.keys(), [this] { on_fault(); }},
                     config,
                     directory,
                     node,
                     node_number};
  AdminCommands admin_commands{
      {async_db, operators_issuer, credits, keys, disabled, payments.admin(), ids, &key_parts.admin()}};
  std::optional<AdminChannel> admin_channel;

  api::Router router;
  api::Authentication authentication{tokens, accounts, keys, disabled, trusted_proxies(config)};
  api::WebFiles web{api::web_files, config.base_url.starts_with("https:")};
  api::Api handlers{
      router, authentication, failed_requests, clock, log, metrics, has_role(config, "api") ? &web : nullptr};
  Front front;
  net::HttpServer server{runtime, front, random, log, server_options(config, listen)};
  services::NodeNumber own_number{
      runtime.scheduler(0),  async_db, log,
      node_number,           node,     fmt::format("{}", fmt::join(config.roles, ",")),
      [this] { on_fault(); }};
  services::Census census{runtime.scheduler(0),
                          clock,
                          async_db,
                          log,
                          metrics,
                          {.only_node = shared() ? std::vector<std::string>() : config.roles}};
  std::optional<storage::Wakeups> other_nodes;  // with a database that is shared
  Components background{runtime};               // what this node's roles have it do besides jobs
  Components counting{runtime};                 // what counts requests, and so ends after the last of them
  const std::function<void()> on_fault;
  bool started = false;  // the runtime's threads
  bool working = false;  // the background's parts and the worker
  bool stopped = false;

 private:
  std::vector<identity::Issuer*> all_issuers() {
    std::vector<identity::Issuer*> all{&issuer};
    for (const auto& one : trusted) all.push_back(one.get());
    return all;
  }
  bool shared() const { return !config.database_url.empty(); }
  // Of events, which the world reads: only where the service has an address that the world knows.
  services::DeliveryChanges::BuyerUrl buyer_url() {
    if (config.base_url.empty()) return {};
    return [this](const storage::DeliveryRow& row) { return links.url_of(config.base_url, row); };
  }
  // Committed work: whoever does it need not wait for the next poll.
  void work_came() {
    wake_loops();
    notify_others();
  }
  void notify_others() {
    if (other_nodes) other_nodes->notify();
  }
  void wake_loops() {
    worker.wake();
    dispatcher.wake();
  }
  void mail_came() {
    mail.wake();
    notify_others();
  }
  void other_node_notified() {
    wake_loops();
    mail.wake();
    asked_logins.wake();
    worker_calls.wake();
  }
};

}  // namespace presetbridge::app
