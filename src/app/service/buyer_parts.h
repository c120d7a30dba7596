// The actions of buyers with the link of a delivery (spec 13.3), and their limits.
#pragma once

#include <functional>
#include <utility>

#include "api/handlers/buyer_handlers.h"
#include "app/config/config.h"
#include "base/clock.h"
#include "net/key_budget.h"
#include "net/network_budget.h"
#include "services/buyers/buyer_links.h"
#include "services/buyers/buyers.h"
#include "services/delivery/actions.h"
#include "storage/commit/async_database.h"

namespace presetbridge::app {

class BuyerParts {
 public:
  // All outlives this.
  BuyerParts(const Config& config, storage::AsyncDatabase& async_db, services::BuyerLinks& links,
             services::DeliveryChanges& changes, net::NetworkBudget& failures, const Clock& clock,
             std::function<void()> work_came)
      : config_(config),
        failures_(failures),
        buyers_(async_db, links, changes, static_cast<int>(config.delivery_jobs_per_minute),
                std::move(work_came)),
        reads_(clock, {.times = 120, .window = std::chrono::minutes{1}}) {}

  void add_routes(api::Router& router, api::BuyerReaders live) {
    api::add_buyer_routes(router, {.buyers = buyers_,
                                   .failures = failures_,
                                   .reads = reads_,
                                   .platform = {.name = config_.cloud_name,
                                                .friend_requests_url = config_.cloud_friend_requests_url,
                                                .app_url = config_.cloud_app_url},
                                   .live = live});
  }

 private:
  const Config& config_;
  net::NetworkBudget& failures_;
  services::Buyers buyers_;
  // Of one delivery's link: a page that follows it in some windows, and no more.
  net::KeyBudget reads_;
};

}  // namespace presetbridge::app
