// The loop that leases: it finds out when a cloud account is ready, takes jobs and sweeps for the free places
// of this process (leasing.h), and starts them. All of its state may be lost with the process.
#pragma once

#include <functional>
#include <optional>

#include "base/background_tasks.h"
#include "services/leases/ready_scan.h"
#include "services/worker/fault_at.h"
#include "services/worker/job_runner.h"
#include "services/worker/leasing.h"
#include "services/worker/sweep_runner.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// Owned by the worker, on its thread. At most WorkerOptions::max_jobs jobs and sweeps are under way.
class LeaseLoop {
 public:
  // All outlive this. `tasks` run the jobs, and this loop waits there. `ended` is called at the end of each
  // job and sweep, however it ended: one that throws is a fault here, its lease runs out and the work is
  // taken over.
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
  int free_places() const { return options_.max_jobs - tasks_.jobs(); }
  // Leases once, if there is work. Returns when the next round is due.
  Task<Millis> round();
  // Starts what was leased. Returns when there may be more.
  std::optional<Timestamp> start(Leased leased);
  // Returns when leasing is worth another try.
  Task<Timestamp> failed(FailedWrite<LeasePlace> write);

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
