// The search for work that leases missed: rows that became ready behind where scans begin (ready_scan.h), and
// rows that nothing made ready though they have work. Both may take long, so they run beside the leases and
// hold up nothing. The delivery worker and the webhook dispatcher each have one.
#pragma once

#include <functional>
#include <optional>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/wakeup.h"
#include "services/leases/ready_scan.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// Lives on the scheduler, as the loop of leases that it wakes.
class MissedWork {
 public:
  struct Ports {
    Scheduler& scheduler;
    const Clock& clock;
    storage::AsyncDatabase& async_db;
    ReadyScan& scan;         // of the loop of leases
    BackgroundTasks& tasks;  // that loop waits there
  };
  // Makes ready what was forgotten, in a transaction of its own.
  using Wake = std::function<void(storage::Tx&)>;
  struct Queries {
    std::function<std::optional<Timestamp>(storage::Tx&)> first_ready;  // of all rows
    std::function<Wake(storage::Tx&)> find_forgotten;                   // null: nothing is forgotten
  };

  // All outlive this. Forgotten rows are searched for `every` so often, or less often where that takes long.
  MissedWork(Ports ports, Queries queries, Millis every)
      : ports_(ports), queries_(std::move(queries)), forgotten_(every), wakeup_(ports.scheduler) {}

  // A loop of the tasks.
  Task<void> run();
  // On the scheduler, together with BackgroundTasks::stop(): the loop runs after both, and ends. Before it, where
  // that may call back at once and end this.
  void stop() { wakeup_.notify(); }

 private:
  Task<void> wake_forgotten();

  const Ports ports_;
  const Queries queries_;
  Recurring forgotten_;
  Wakeup wakeup_;
};

}  // namespace presetbridge::services
