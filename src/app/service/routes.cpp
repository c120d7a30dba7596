#include "api/handlers/credentials_handlers.h"
#include "api/handlers/credits_handlers.h"
#include "api/handlers/deliveries_handlers.h"
#include "api/handlers/direct_handlers.h"
#include "api/handlers/integrations_handlers.h"
#include "api/handlers/keys_handlers.h"
#include "api/handlers/meta_handlers.h"
#include "api/handlers/pages_handlers.h"
#include "api/handlers/stores_handlers.h"
#include "api/handlers/subscriptions_handlers.h"
#include "api/handlers/webhook_events_handlers.h"
#include "api/handlers/webhook_handlers.h"
#include "app/service/parts.h"
#include "app/service/readiness.h"
#include "app/version.h"

namespace presetbridge::app {

void Service::Parts::add_routes() {
  api::add_health_routes(
      router,
      {.readiness = [this](Executor& on) { return readiness(on, runtime.scheduler(0), async_db, agent); },
       .metrics_text =
           config.http_metrics ? [this] { return metrics_text(); } : std::function<std::string()>()});
  if (has_role(config, "api")) {
    add_api_routes();
    handlers.require_contract();
  }
  // Which only this machine's operator may call.
  admin_channel->add_route(router, admin_commands);
}

void Service::Parts::add_api_routes() {
  api::add_about_routes(
      router, {.version = std::string(kVersion), .commit = std::string(kCommit), .sandbox = config.sandbox});
  api::add_pages_routes(router, {.sandbox = config.sandbox});
  const std::string base_url = config.base_url.empty() ? url() : config.base_url;
  sign_in_parts.add_routes(router, base_url);
  people.add_routes(router, base_url);
  api::add_keys_routes(router, {keys});
  figures.add_routes(router);
  api::add_credentials_routes(router, {vault});
  api::add_login_routes(router, {cloud_logins});
  api::add_presets_routes(router, {presets, preset_uses});
  api::add_credits_routes(router, {credits, config.credits_low_threshold});
  const api::DeliveriesDeps of_deliveries{deliveries, links, base_url};
  api::add_deliveries_routes(router, of_deliveries);
  buyers.add_routes(router, live_parts.of_buyers());
  live_parts.add_routes(router);
  api::add_integrations_routes(router, {stores, presets, base_url});
  api::add_subscriptions_routes(router, {subscriptions, dispatches_by_hand});
  order_parts.add_routes(router, of_deliveries);
  payments.add_routes(router);
  api::add_webhook_events_routes(router, {webhook_events, dispatches_by_hand});
  api::add_webhook_routes(router, {reception, failed_requests});
  api::add_direct_routes(router, {of_deliveries, reception});
  api::add_stores_routes(router,
                         {services::Products(async_db), services::MappingPreviews(async_db, stores.limits()),
                          services::TestOrders(async_db, integrations, ids, clock), reception});
}

// Adds the values that are known without the database.
std::string Service::Parts::metrics_text() {
  const auto flag = [](bool yes) { return yes ? 1.0 : 0.0; };
  metrics.set("presetbridge_storage_in_trouble", flag(async_db.writes_in_trouble()), {{"what", "writes"}});
  metrics.set("presetbridge_storage_in_trouble", flag(async_db.reads_in_trouble()), {{"what", "reads"}});
  metrics.set("presetbridge_credential_agent_up", flag(agent.pid() != 0));
  live_parts.show_readers();
  metrics.set("presetbridge_backlog", static_cast<double>(intake.waiting()), {{"stage", "intake"}});
  return metrics.text();
}

}  // namespace presetbridge::app
