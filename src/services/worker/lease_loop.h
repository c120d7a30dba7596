// The loop that leases: it finds out when a cloud account is ready, leases jobs and sweeps for the free slots
// of this process (leasing.h), and starts them. All of its state may be lost with the process.
#pragma once

#include <functional>
#include <optional>

#include "base/background_tasks.h"
#include "services/leases/ready_scan.h"
#include "services/worker/job_runner.h"
#include "services/worker/leasing.h"
#include "services/worker/sweep_runner.h"
#include "services/worker/work_fault.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// Owned by the worker, on its thread. At most WorkerOptions::max_jobs jobs and sweeps are under way.
class LeaseLoop {
 public:
  // All outlive this. `tasks` run the jobs and sweeps, and tasks.wake() wakes this loop. `ended` is called at
  // the end of each job and sweep, also when it threw: then its lease runs out and the work is taken over.
  LeaseLoop(const WorkerPorts& ports, const WorkerOptions& options, BackgroundTasks& tasks, ReadyScan& scan,
            JobRunner& jobs, SweepRunner& sweeps, std::function<void()> ended)
      : ports_(ports),
        options_(options),
        tasks_(tasks),
        scan_(scan),
        jobs_(jobs),
        sweeps_(sweeps),
        ended_(std::move(ended)) {}

  // A loop of the tasks.
  Task<void> run();

 private:
  int free_slots() const { return options_.max_jobs - tasks_.jobs(); }
  // Leases once, if there is work. Returns how long to wait for the next round.
  Task<Millis> round();
  // Starts the leased jobs and sweeps. Returns when there may be more, if that is known.
  std::optional<Timestamp> start(Leased leased);
  // Returns when to lease again.
  Task<Timestamp> failed(FailedWrite<LeasedWork> write);

  const WorkerPorts& ports_;
  const WorkerOptions& options_;
  BackgroundTasks& tasks_;
  ReadyScan& scan_;
  JobRunner& jobs_;
  SweepRunner& sweeps_;
  const std::function<void()> ended_;
  Pace pace_ = Pace::together;
  bool busy_ = false;         // the last round found work
  Timestamp closed_until_{};  // by the queue limit of the whole service
};

}  // namespace presetbridge::services
