// Events as they happen: what the routes of accounts and of buyers read from, and how many may (spec 13.1,
// 13.3).
#pragma once

#include "api/handlers/buyer_handlers.h"
#include "api/router.h"
#include "app/config/client_networks.h"
#include "app/config/config.h"
#include "app/service/components.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/shared_slots.h"
#include "services/live/buyer_changes.h"
#include "services/live/live_changes.h"
#include "storage/commit/async_database.h"

namespace presetbridge::app {

// report() is called on any thread, as that of LiveChanges.
class LiveParts {
 public:
  // All outlive this.
  struct Deps {
    Scheduler& scheduler;
    storage::AsyncDatabase& async_db;
    IdSource& ids;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
  };
  LiveParts(const Deps& deps, const Config& config);

  void report(const storage::News& news) { changes_.report(news.changes); }
  void add_routes(api::Router& router);
  // For the buyers' routes.
  api::BuyerReaders of_buyers();
  void show_readers();  // to the metrics

  // As what works in the background, on `core`, which is that of `scheduler`.
  void add_to(Components& components, int core);

 private:
  Metrics& metrics_;
  const ReaderShares shares_;
  const std::vector<net::IpNetwork> proxies_;
  SharedSlots readers_;
  SharedSlots buyers_;
  services::LiveChanges changes_;
  services::BuyerChanges buyer_changes_;
};

}  // namespace presetbridge::app
