// GET /api/stats/deliveries, /api/stats/durations, /api/usage, /api/keys/{key}/usage (spec 6.4, 13.1).
#pragma once

#include "api/router.h"
#include "base/clock.h"
#include "services/figures/statistics.h"

namespace presetbridge::api {

struct StatisticsDeps {
  services::Statistics& statistics;
  const Clock& clock;    // says what the last days are
  Millis usage_by_hour;  // how long usage is stored by the hour
};
void add_statistics_routes(Router& router, StatisticsDeps deps);

}  // namespace presetbridge::api
