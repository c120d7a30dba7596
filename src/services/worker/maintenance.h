// The worker's work beside jobs and sweeps: it takes over leases that ran out (spec 3.4), starts the probes
// of failed deliveries (spec 3.5), does account tasks (account_tasks.h), and completes dry runs (spec 2.11).
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/background_tasks.h"
#include "base/recurring.h"
#include "base/wakeup.h"
#include "services/leases/ready_scan.h"
#include "services/worker/account_task_starts.h"
#include "services/worker/postponed.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"
#include "storage/stores/account_task_store.h"

namespace presetbridge::services {

// Owned by the worker; all but wake() on its thread. A round does a bounded amount of each kind of work, and
// only reads where there is none. Work that threw is left alone for kPostponement; that memory is lost with
// the process, and the next one attempts the work once more.
class Maintenance {
 public:
  // All outlive this. `worked` is called after a round that may have made work for jobs or written events.
  Maintenance(const WorkerPorts& ports, const WorkerOptions& options, const BackgroundTasks& tasks,
              std::function<void()> worked);

  // A loop of the tasks.
  Task<void> run();
  // There may be account tasks or dry runs. Any thread; many calls within ten milliseconds cost one round.
  void wake() { wakeup_.notify(); }

 private:
  struct Found {
    Timestamp at{};
    bool expired = false;
    std::vector<CloudAccountId> probes;
    std::vector<storage::AccountTask> tasks;
    std::set<std::string> writers;
    AccountId last_with_dry_runs;
    std::vector<DeliveryId> dry_runs;
  };
  // Each but start_probes() returns whether there may be more to do at once.
  Task<bool> round(Timestamp now);
  Task<bool> take_over(Timestamp from);
  Task<void> start_probes(std::vector<CloudAccountId> accounts);
  Task<bool> do_dry_runs(std::vector<DeliveryId> waiting);
  Task<bool> do_account_tasks(std::vector<storage::AccountTask> waiting);
  // How long to wait for the next round, after one that began at `began`.
  Millis pause(Timestamp began);

  const WorkerPorts& ports_;
  const BackgroundTasks& tasks_;
  const std::function<void()> worked_;
  Recurring leases_;  // and probes
  Recurring held_warning_;
  ReadyScan expired_;
  AccountId last_with_dry_runs_;  // see next_dry_runs()
  // Of account tasks; for dry runs without an account.
  Postponed<std::pair<AccountId, DeliveryId>> postponed_deliveries_;
  Postponed<std::pair<AccountId, storage::AccountTaskKind>> postponed_account_tasks_;
  AccountTaskStarts account_task_starts_;
  Wakeup wakeup_;
};

}  // namespace presetbridge::services
