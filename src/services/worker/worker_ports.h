// The ports of the delivery worker.
#pragma once

#include <functional>

#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cloud/cloud.h"
#include "cloud/session_cache.h"
#include "services/delivery/change.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// All of them outlive the worker.
struct WorkerPorts {
  Scheduler& scheduler;  // where the worker lives: all of its coroutines run there
  const Clock& clock;
  Random& random;
  Log& log;
  Metrics& metrics;
  storage::AsyncDatabase& async_db;
  cloud::Cloud& cloud;
  cloud::SessionCache& sessions;  // on the same scheduler
  DeliveryChanges& changes;
  // Called on the scheduler's thread when outbound events, or work that other nodes may take, may have been
  // written. The worker wakes itself.
  std::function<void()> notify_others = [] {};
};

}  // namespace presetbridge::services
