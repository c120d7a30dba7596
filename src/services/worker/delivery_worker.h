// The delivery worker (spec 3.2-3.5): leases jobs and sweeps, runs each as a coroutine, and does the small
// maintenance beside them. All of its state that matters is in the database; what it holds in memory may
// vanish at any moment.
#pragma once

#include <functional>
#include <memory>

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/wakeup.h"
#include "cloud/cloud.h"
#include "cloud/session_cache.h"
#include "services/delivery/change.h"
#include "services/ready_look.h"
#include "services/worker/chore_starts.h"
#include "services/worker/job.h"
#include "services/worker/job_step.h"
#include "services/worker/leasing.h"
#include "services/worker/platform_health.h"
#include "services/worker/set_aside.h"
#include "storage/batcher.h"
#include "storage/chore_store.h"
#include "storage/credential_store.h"
#include "storage/group_commit.h"

namespace presetbridge::services {

struct WorkerPorts {
  Scheduler& scheduler;  // where the worker lives: all of its coroutines run there
  const Clock& clock;
  Random& random;
  Log& log;
  Metrics& metrics;
  storage::GroupCommit& commits;
  cloud::Cloud& cloud;
  cloud::SessionCache& sessions;  // on the same scheduler
  DeliveryChanges& changes;
  std::function<void()> told = [] {
  };  // outbound events may have been written; called on the scheduler's thread
};

// All but wake() are called on the scheduler's thread.
class DeliveryWorker {
 public:
  // Throws std::invalid_argument if a lease would not outlast a call of the cloud port (spec 3.4).
  DeliveryWorker(WorkerPorts ports, WorkerOptions options);

  void start();
  // No new jobs; those under way end after the call they are in. `stopped` is called once, when the last has
  // ended. What is left then is released to be taken up at once.
  void stop(Callback stopped);
  // There may be work now. Thread-safe, cheap.
  void wake() {
    tasks_.wake();
    maintenance_.notify();
  }

  int jobs_running() const { return tasks_.jobs(); }

 private:
  Task<void> lease_loop();
  Task<void> maintenance_loop();
  // Looks at all that is ready or should be, which may take long: nothing else waits for it.
  Task<void> missed_work_loop();
  Task<void> run_job(Job job);
  Task<void> run_sweep(SweepLease lease);
  Task<bool> isolate(Error error, LeasePlace at);
  // Each returns whether there is more to do at once.
  Task<bool> complete_dry_runs(std::vector<DeliveryId> waiting);
  Task<bool> do_chores(std::vector<storage::Chore> waiting);
  Task<void> start_probes(std::vector<CloudAccountId> due);
  Task<std::optional<Answer>> ask(const Call& call, const Job& job);
  Task<bool> take_in(const SweepLease& lease, const std::string& cursor, const cloud::FriendshipPage& page);
  void sweep_failed(const SweepLease& lease, const char* what, const Error& error);
  Task<cloud::CloudResult<cloud::Session>> session_of(AccountId account, std::int64_t& version);
  // What a call, or a login, says of the platform; nullptr: it was answered with success.
  void saw(const cloud::CloudError* error);
  void start_job(Task<void> task, std::string_view what);

  WorkerPorts ports_;
  const WorkerOptions options_;
  JobSteps steps_;
  storage::Batcher<JobAnswer, JobCall> answers_;
  // What threw in the maintenance. It is lost with the process, which then tries once more.
  AccountId dry_run_turn_;                                       // the last account whose dry runs were found
  SetAside<std::pair<AccountId, DeliveryId>> deliveries_aside_;  // dry runs: of no account
  SetAside<std::pair<AccountId, storage::ChoreKind>> chores_aside_;
  ChoreStarts chore_starts_;
  PlatformHealth platform_;
  ReadyLook look_;
  ReadyLook lease_look_;  // for leases that ran out
  Wakeup maintenance_;
  Wakeup missed_work_;
  BackgroundTasks tasks_;  // loops, of which that of leases waits here; jobs and sweeps
};

}  // namespace presetbridge::services
