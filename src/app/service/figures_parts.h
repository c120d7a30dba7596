// The figures of an account: the overview, figures over time, and the search (spec 6.4, 13.1).
#pragma once

#include "api/handlers/overview_handlers.h"
#include "api/handlers/statistics_handlers.h"
#include "app/config/config.h"
#include "app/config/retention_options.h"
#include "base/clock.h"
#include "services/accounts/api_keys.h"
#include "services/figures/overview.h"
#include "services/figures/search.h"
#include "services/figures/statistics.h"
#include "storage/commit/async_database.h"

namespace presetbridge::app {

class FiguresParts {
 public:
  // All outlives this.
  FiguresParts(const Config& config, storage::AsyncDatabase& async_db, services::ApiKeys& keys,
               const Clock& clock)
      : clock_(clock),
        usage_by_hour_(retention_of(config).activity),
        statistics_(async_db, keys.limited()),
        overviews_(async_db, {.jobs_per_minute = static_cast<int>(config.delivery_jobs_per_minute),
                              .credits_low_at = config.credits_low_threshold}),
        search_(async_db) {}

  void add_routes(api::Router& router) {
    api::add_statistics_routes(router, {statistics_, clock_, usage_by_hour_});
    api::add_overview_routes(router, {overviews_, search_});
  }

 private:
  const Clock& clock_;
  const Millis usage_by_hour_;
  services::Statistics statistics_;
  services::Overviews overviews_;
  services::Search search_;
};

}  // namespace presetbridge::app
