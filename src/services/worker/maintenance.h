// What a worker does beside jobs and sweeps: it takes over leases that ran out (spec 3.4), starts the probes
// of failed deliveries (spec 3.5), spreads what one event means for many deliveries (account_tasks.h), and completes
// dry runs (spec 2.11).
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
#include "services/worker/set_aside.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"
#include "storage/stores/account_task_store.h"

namespace presetbridge::services {

// Owned by the worker; all but wake() on its thread. A round does a bounded piece of each, and reads only
// where there is nothing to do. What threw is left alone for some minutes; that memory is lost with the
// process, which then tries once more.
class Maintenance {
 public:
  // All outlive this. `worked` is called after a round that made work for jobs, or wrote events.
  Maintenance(const WorkerPorts& ports, const WorkerOptions& options, const BackgroundTasks& tasks,
              std::function<void()> worked);

  // A loop of the tasks.
  Task<void> run();
  // There may be account tasks or dry runs. Any thread; many of these within some milliseconds cost one round.
  void wake() { wakeup_.notify(); }

 private:
  struct Waiting {
    Timestamp at{};
    bool expired = false;
    std::vector<CloudAccountId> probes;
    std::vector<storage::AccountTask> tasks;
    std::set<std::string> writers;
    AccountId dry_run_turn;
    std::vector<DeliveryId> dry_runs;
  };
  // Each but start_probes() returns whether there is more to do at once.
  Task<bool> round(Timestamp now);
  Task<bool> take_over(Timestamp from);
  Task<void> start_probes(std::vector<CloudAccountId> due);
  Task<bool> complete_dry_runs(std::vector<DeliveryId> waiting);
  Task<bool> do_account_tasks(std::vector<storage::AccountTask> waiting);
  // Until the next round, after one that began then.
  Millis pause(Timestamp began);

  const WorkerPorts& ports_;
  const BackgroundTasks& tasks_;
  const std::function<void()> worked_;
  Recurring leases_;  // and probes
  Recurring held_warning_;
  ReadyScan expired_;
  AccountId dry_run_turn_;                                       // the last account whose dry runs were found
  SetAside<std::pair<AccountId, DeliveryId>> deliveries_aside_;  // dry runs: of no account
  SetAside<std::pair<AccountId, storage::AccountTaskKind>> postponed_account_tasks_;
  AccountTaskStarts account_task_starts_;
  Wakeup wakeup_;
};

}  // namespace presetbridge::services
