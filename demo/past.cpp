#include "past.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "api/api.h"
#include "api/handlers/buyer_handlers.h"
#include "api/handlers/credentials_handlers.h"
#include "api/handlers/credits_handlers.h"
#include "api/handlers/deliveries_handlers.h"
#include "api/handlers/direct_handlers.h"
#include "api/handlers/integrations_handlers.h"
#include "api/handlers/keys_handlers.h"
#include "api/handlers/payment_webhook_handlers.h"
#include "api/handlers/purchases_handlers.h"
#include "api/handlers/stores_handlers.h"
#include "api/handlers/subscriptions_handlers.h"
#include "api/handlers/webhook_events_handlers.h"
#include "api/handlers/webhook_handlers.h"
#include "app/config/client_networks.h"
#include "app/config/cloud_options.h"
#include "app/config/order_limits.h"
#include "app/config/payment_keys.h"
#include "app/foundation/foundation.h"
#include "app/service/figures_parts.h"
#include "app/service/order_parts.h"
#include "app/service/people_parts.h"
#include "app/service/sign_in_parts.h"
#include "base/testing.h"
#include "cloud/session_cache.h"
#include "cloudsim/simulator.h"
#include "crypto/service_cipher.h"
#include "payments/stripe.h"
#include "paysim/simulator.h"
#include "services/credits/credits.h"
#include "services/dispatcher/webhook_dispatcher.h"
#include "services/intake/store_tally.h"
#include "services/operation/housekeeping.h"
#include "services/payments/purchases.h"
#include "services/payments/reconciliation.h"
#include "services/vault/credential_checks.h"
#include "services/vault/vault.h"
#include "services/webhooks/subscription_watch.h"
#include "services/worker/delivery_worker.h"
#include "storage/sqlite/sqlite_database.h"

namespace presetbridge::demo {
namespace {

using std::chrono::minutes;
using testing::ManualClock;
using testing::SeededRandom;
using testing::VirtualScheduler;

// Wake-ups do the work as it comes, and timers what is due later; a look at all is for what neither told of.
constexpr Millis kPoll = minutes{5};

constexpr std::string_view kSecretOfBank = "whsec_of_the_past";
constexpr std::string_view kBaseUrl = "http://127.0.0.1";

std::vector<crypto::SecretString> bank_secrets() {
  std::vector<crypto::SecretString> all;
  all.emplace_back(std::string(kSecretOfBank));
  return all;
}

std::vector<domain::CreditPack> packs_of(const app::Config& config) {
  std::vector<domain::CreditPack> packs;
  for (const auto& text : config.credits_packs) packs.push_back(domain::parse_credit_pack(text).value());
  return packs;
}

}  // namespace

// In the order in which one needs another, as in app::Service.
struct Past::Parts {
  Parts(app::Config the_config, Timestamp start, std::uint64_t seed, std::vector<crypto::ServiceKey> keys_of,
        crypto::VaultPublicKey vault_public, crypto::VaultKeyring vault_private, const app::DataDirectory& at)
      : config(std::move(the_config)),
        clock(start),
        random(seed),
        database(open(at, clock)),
        cipher(std::move(keys_of), random),
        vault_key(std::move(vault_public)),
        agent(cloud_http, clock, app::cloud_options(config), std::move(vault_private)) {
    add_routes();
    start_all();
  }
  ~Parts() { stop_all(); }
  Parts(const Parts&) = delete;

  // A power cut loses a demonstration, which is made anew.
  static std::unique_ptr<storage::Database> open(const app::DataDirectory& at, const Clock& clock) {
    auto opened = storage::open_sqlite(
        {.path = at.database.string(), .lock_file = {}, .sync_file = [](int) { return 0; }}, clock);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }

  template <class T>
  T await(Task<T> task) {
    std::optional<Outcome<T>> ended;
    spawn(std::move(task), [&](Outcome<T> outcome) { ended = std::move(outcome); });
    scheduler.run();
    // What answers after a while, as a receiver of the bank's events.
    for (int i = 0; !ended && i < 120; ++i) scheduler.advance(Millis{1'000});
    if (!ended) throw std::runtime_error("a request was not answered");
    if (ended->exception) std::rethrow_exception(ended->exception);
    return std::move(*ended->value);
  }

  void add_routes() {
    sign_in_parts.add_routes(router, std::string(kBaseUrl));
    people.add_routes(router, std::string(kBaseUrl));
    api::add_keys_routes(router, {keys});
    figures.add_routes(router);
    api::add_credentials_routes(router, {vault});
    api::add_presets_routes(router, {presets, preset_uses});
    api::add_credits_routes(router, {credits, config.credits_low_threshold});
    const api::DeliveriesDeps of_deliveries{deliveries, links, std::string(kBaseUrl)};
    api::add_deliveries_routes(router, of_deliveries);
    api::add_integrations_routes(router, {stores, presets, std::string(kBaseUrl)});
    api::add_subscriptions_routes(router, {subscriptions, dispatches_by_hand});
    order_parts.add_routes(router, of_deliveries);
    api::add_purchases_routes(router, {purchases, checkouts, refreshes});
    api::add_payment_webhook_routes(router, {purchases, secrets_of_bank, false, clock, metrics, failures});
    api::add_webhook_events_routes(router, {webhook_events, dispatches_by_hand});
    api::add_webhook_routes(router, {reception, failures});
    api::add_direct_routes(router, {of_deliveries, reception});
    api::add_stores_routes(
        router, {services::Products(async_db), services::MappingPreviews(async_db, stores.limits()),
                 services::TestOrders(async_db, directory, ids, clock), reception});
  }

  void start_all() {
    bank.set_page_url(std::string(kBaseUrl));
    if (auto started = await(issuer.start(scheduler)); !started)
      throw std::runtime_error(started.error().message);
    if (auto started = await(links.start(scheduler)); !started)
      throw std::runtime_error(started.error().message);
    tally.start();
    worker.start();
    credential_checks.start();
    dispatcher.start();
    housekeeping.start();
    shop_erasure.start();
    // Not the jobs on many: they look every few seconds for what nobody asks for here.
    reconciliation.start();
    subscription_watch.start();
    scheduler.run();
  }

  void stop_all() {
    int left = 0;
    const auto add = [&left] {
      ++left;
      return [&left] { --left; };
    };
    worker.stop(add());
    credential_checks.stop(add());
    dispatcher.stop(add());
    housekeeping.stop(add());
    shop_erasure.stop(add());
    reconciliation.stop(add());
    subscription_watch.stop(add());
    tally.stop(add());
    bank.stop(add());
    platform.stop();
    for (int i = 0; left > 0 && i < 60; ++i) scheduler.advance(Millis{1'000});
    async_db.shutdown();
  }

  void work_came() {
    worker.wake();
    dispatcher.wake();
  }

  const app::Config config;
  ManualClock clock;
  SeededRandom random;
  VirtualScheduler scheduler{clock};
  std::unique_ptr<storage::Database> database;
  NullLog log;
  NullMetrics metrics;
  const crypto::ServiceCipher cipher;
  const crypto::SealingVaultKey vault_key;
  IdSource ids{clock, 0};
  storage::AsyncDatabase async_db{*database, log, {.inline_execution = true}};

  cloudsim::Simulator platform{scheduler, clock, random, {}};
  InProcess cloud_http{scheduler, platform};
  PastAgent agent;
  Receivers receivers;
  InProcess to_bridge{scheduler, handlers};
  paysim::Simulator bank{scheduler,
                         clock,
                         random,
                         to_bridge,
                         log,
                         {.secret_key = "",
                          .api_version = std::string(payments::kStripeVersion),
                          .webhooks = {.url = "http://127.0.0.1/api/payments/webhook",
                                       .secrets = {std::string(kSecretOfBank)},
                                       .retry_after = {minutes{1}}}}};
  InProcess bank_http{scheduler, bank};

  net::NetworkBudget failures{clock, {}, app::failed_request_limits(config)};
  net::NetworkBudget failed_sign_ins{clock, {}, app::failed_sign_in_limits(config)};
  const crypto::PasswordHasher hasher;
  identity::PasswordWorkers passwords{hasher, {.threads = 0}};
  identity::BuiltInIssuer issuer{{async_db, passwords, hasher, cipher, ids, random, clock, log},
                                 {.iss = app::issuer_name(config), .signup = identity::Signup::open}};
  identity::TokenVerifier tokens{{&issuer}, clock};
  services::Accounts accounts{async_db, ids, identity::Signup::open, 0};
  services::ApiKeys keys{async_db, ids, random, clock, log, {.rate_limit = config.api_key_requests_per_hour}};

  services::DeliveryChanges changes{ids, random, config.credits_low_threshold, {}};
  services::DisabledAccounts disabled{async_db, ids, clock};
  services::IntegrationDirectory directory{async_db, cipher, clock, &disabled};
  cloud::HttpCloud cloud{cloud_http, clock, app::cloud_options(config)};
  cloud::SessionCache sessions{scheduler, clock, agent};
  services::DeliveryWorker worker{{scheduler, clock, random, log, metrics, async_db, cloud, sessions, changes,
                                   [this] { dispatcher.wake(); }},
                                  {.jobs_per_minute = static_cast<int>(config.delivery_jobs_per_minute),
                                   .poll = minutes{1},
                                   .maintenance = minutes{1}}};
  services::WebhookDispatcher dispatcher{{scheduler, clock, ids, log, metrics, async_db, receivers, cipher},
                                         {.sandbox = true, .poll = kPoll, .maintenance = minutes{1}}};
  services::SubscriptionWatch subscription_watch{
      scheduler, async_db, ids, random, log, [this] { work_came(); }, {.poll = kPoll}};
  services::ShopErasure shop_erasure{scheduler, async_db, changes, log};
  services::Intake intake{async_db, changes, clock, [this] { work_came(); }, [this] { shop_erasure.wake(); }};
  services::StoreTally tally{scheduler, async_db, ids, clock, log, {.period = minutes{1}}};
  services::Reception reception{{directory, intake, async_db, clock, metrics, &tally},
                                app::order_limits(config)};
  services::LoginGuard guard{async_db, ids, [] { return std::string("logins of the past"); }};
  services::CloudSessions cloud_sessions{scheduler, sessions};
  services::CloudLogins cloud_logins{async_db, ids, random, cipher, agent, guard};
  services::OwnStoredLogins stored{async_db, cloud, agent, cloud_sessions, cloud_logins, clock};
  services::Vault vault{{.async_db = async_db,
                         .ids = ids,
                         .random = random,
                         .log = log,
                         .agent = agent,
                         .stored = stored,
                         .guard = guard,
                         .key = vault_key,
                         .forget_sessions = [this](AccountId account) { cloud_sessions.invalidate(account); },
                         .retire_sessions = [this](AccountId account) { cloud_sessions.retire(account); },
                         .changed = [this] { work_came(); }}};
  services::CredentialChecks credential_checks{scheduler, vault, log, kPoll};
  services::Housekeeping housekeeping{scheduler, async_db, log, services::Retention{}};
  services::Presets presets{async_db, stored, cloud_logins, clock};
  services::PresetUses preset_uses{async_db};
  services::Integrations stores{async_db, ids, random, cipher, directory, [this] { work_came(); }};
  services::Subscriptions subscriptions{
      async_db, ids, random, cipher, net::AddressPolicy::sandbox_receivers, [this] { work_came(); }};
  services::WebhookEvents webhook_events{async_db, ids, [this] { work_came(); }};
  services::Credits credits{async_db, ids, [this] { work_came(); }};
  services::DeliveryActions deliveries{async_db, changes, static_cast<int>(config.delivery_jobs_per_minute),
                                       [this] { work_came(); }};
  app::FiguresParts figures{config, async_db, keys, clock};
  services::BuyerLinks links{async_db, cipher, ids, random};
  app::OrderParts order_parts{{async_db, changes, directory, deliveries, scheduler, log,
                               std::chrono::days(config.retention_payload_days), [this] { work_came(); }}};

  app::PeopleParts people{
      {config, async_db, ids, random, tokens, accounts, failures, vault, [this] { order_parts.job_came(); }}};

  payments::Stripe processor{
      bank_http, crypto::SecretString("sk_test_of_the_past"), {.base_url = std::string(kBaseUrl)}};
  services::Settlement settlement{async_db, changes, processor, log, [this] { work_came(); }};
  services::Reconciliation reconciliation{{scheduler, clock, async_db, settlement, log, metrics, "past"},
                                          {.poll = kPoll, .notices = kPoll}};
  services::Purchases purchases{
      async_db, ids, &settlement, {.packs = packs_of(config), .base_url = std::string(kBaseUrl)}};
  const std::vector<crypto::SecretString> secrets_of_bank = bank_secrets();
  net::KeyBudget dispatches_by_hand{clock, {.times = 30, .window = minutes{10}}};
  net::KeyBudget checkouts{clock, {.times = 30, .window = minutes{10}}};
  net::KeyBudget refreshes{clock, {.times = 60, .window = minutes{1}}};

  app::SignInParts sign_in_parts{{config, issuer, keys, disabled, failed_sign_ins, failures, async_db,
                                  cloud_http, cipher, ids, random, clock, log},
                                 {},
                                 std::nullopt};
  api::Router router;
  api::Authentication authentication{tokens, accounts, keys, disabled};
  api::Api handlers{router, authentication, failures, clock, log, metrics};
};

Expected<std::unique_ptr<Past>> Past::begin(const app::Config& config, Timestamp start, std::uint64_t seed) {
  NullLog log;
  auto foundation = app::lay_foundation(config, log);
  if (!foundation) return std::unexpected(foundation.error());
  auto opened = crypto::read_vault_private_keys(foundation->directory.vault_private_key);
  if (!opened) return std::unexpected(opened.error());
  const auto directory = foundation->directory;
  auto service_keys = std::move(foundation->service_keys);
  const auto vault_key = foundation->vault_key;
  foundation->open.database.reset();  // it stands on the system's clock
  return std::unique_ptr<Past>(new Past(std::make_unique<Parts>(config, start, seed, std::move(service_keys),
                                                                vault_key, std::move(*opened), directory)));
}

Past::Past(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Past::~Past() = default;

net::HttpResponse Past::ask(Neighbour whom, net::HttpRequest request) {
  request.executor = &parts_->scheduler;
  request.remote_address = "127.0.0.1";
  request.id = "past";
  auto& handler = whom == Neighbour::cloud  ? static_cast<net::HttpHandler&>(parts_->platform)
                  : whom == Neighbour::bank ? static_cast<net::HttpHandler&>(parts_->bank)
                                            : static_cast<net::HttpHandler&>(parts_->handlers);
  auto response = parts_->await(handler.handle(std::move(request)));
  parts_->scheduler.run();
  return response;
}

void Past::advance(Millis by) {
  parts_->scheduler.advance(by);
}

Timestamp Past::now() const {
  return parts_->clock.now();
}

Expected<std::int64_t> Past::grant(AccountId account, std::int64_t credits, std::string note) {
  auto granted = parts_->await(parts_->credits.grant(parts_->scheduler, account, credits, std::move(note)));
  if (!granted) return std::unexpected(granted.error());
  parts_->scheduler.run();
  return granted->available();
}

Receivers& Past::receivers() {
  return parts_->receivers;
}

InProcess::Instead& Past::platform_trouble() {
  return parts_->cloud_http.instead;
}

}  // namespace presetbridge::demo
