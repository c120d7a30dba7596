// The delivery worker's options, as the settings say.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "app/config/config.h"
#include "services/worker/worker_options.h"

namespace presetbridge::app {

// `node` owns the leases. A job makes one call of the platform at a time: more jobs than calls would wait for
// each other here until their calls time out, which counts as an outage of the platform.
inline services::WorkerOptions worker_options(const Config& config, std::string node) {
  return {.owner = std::move(node),
          .jobs_per_minute = static_cast<int>(config.delivery_jobs_per_minute),
          .jobs_per_minute_total = static_cast<int>(config.delivery_jobs_per_minute_total),
          .max_jobs = static_cast<int>(std::min(config.delivery_max_jobs, config.cloud_concurrency)),
          .lease = std::chrono::seconds(config.delivery_lease_seconds),
          .poll = Millis(config.delivery_poll_ms),
          .maintenance = Millis(config.delivery_maintenance_ms),
          .sweep_page = static_cast<int>(config.delivery_sweep_page),
          .first_sweep = std::chrono::seconds(config.delivery_first_sweep_seconds)};
}

}  // namespace presetbridge::app
