#include "app/service/live_parts.h"

#include "api/handlers/events_handlers.h"

namespace presetbridge::app {

LiveParts::LiveParts(const Deps& deps, const Config& config)
    : metrics_(deps.metrics),
      shares_(reader_shares(config)),
      proxies_(trusted_proxies(config)),
      readers_(shares_.of_accounts),
      buyers_(shares_.of_buyers),
      changes_({deps.scheduler, deps.async_db, deps.ids, deps.clock, deps.log, deps.metrics},
               {.others_write = !config.database_url.empty(),
                .poll = Millis(config.live_poll_ms),
                .retention = std::chrono::minutes(config.live_retention_minutes)}),
      buyer_changes_({deps.scheduler, deps.async_db, deps.clock, deps.log, deps.metrics}) {}

void LiveParts::add_routes(api::Router& router) {
  api::add_events_routes(
      router,
      {.changes = changes_,
       .readers = readers_,
       .limits = {.proxies = proxies_, .of_one = shares_.of_account, .of_network = shares_.of_network}});
}

api::BuyerReaders LiveParts::of_buyers() {
  return {.changes = buyer_changes_,
          .readers = buyers_,
          .limits = {.proxies = proxies_, .of_one = shares_.of_delivery, .of_network = shares_.of_network}};
}

void LiveParts::show_readers() {
  metrics_.set("presetbridge_live_readers", readers_.used(), {{"of", "accounts"}});
  metrics_.set("presetbridge_live_readers", buyers_.used(), {{"of", "buyers"}});
}

void LiveParts::add_to(Components& components, int core) {
  components.add(core, changes_, "live changes did not end");
  components.add(core, buyer_changes_, "buyers' live changes did not end");
}

}  // namespace presetbridge::app
