#include "services/worker/delivery_worker.h"

#include <stdexcept>

#include "base/background_tasks.h"
#include "services/leases/missed_work.h"
#include "services/leases/ready_scan.h"
#include "services/worker/account_tasks.h"
#include "services/worker/cloud_calls.h"
#include "services/worker/job_runner.h"
#include "services/worker/lease_loop.h"
#include "services/worker/maintenance.h"
#include "services/worker/sweep_runner.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

// Cloud accounts that nothing woke though they have work, and credits that nothing gave out. `last`: see
// next_with_spare_credits().
MissedWork::Wake find_forgotten(Tx& tx, AccountId& last) {
  const bool forgotten = storage::any_forgotten_account(tx);
  auto accounts = next_with_spare_credits(tx, last);
  if (!forgotten && accounts.empty()) return {};
  return [forgotten, accounts = std::move(accounts)](Tx& writing) {
    for (const auto account : accounts) give_out_spare_credits(writing, account);
    if (forgotten) storage::wake_forgotten_accounts(writing);
  };
}

}  // namespace

struct DeliveryWorker::Parts {
  const WorkerPorts ports;
  const WorkerOptions options;
  // The loops, jobs and sweeps. The lease loop waits on these tasks.
  BackgroundTasks tasks{ports.scheduler,
                        {.log = ports.log,
                         .message = "a task of the delivery worker failed",
                         .metrics = &ports.metrics,
                         .counter = "presetbridge_worker_faults_total"}};
  ReadyScan scan{options.maintenance};
  CloudCalls calls{ports};
  JobRunner jobs{ports, options, calls, tasks};
  SweepRunner sweeps{ports, options, calls, tasks};
  LeaseLoop leases{ports, options, tasks, scan, jobs, sweeps, [this] {
                     tasks.wake();
                     maintenance.wake();  // a step may have written account tasks
                     ports.notify_others();
                   }};
  Maintenance maintenance{ports, options, tasks, [this] {
                            tasks.wake();
                            ports.notify_others();
                          }};
  AccountId last_with_unpaid;  // of the search for missed work alone
  MissedWork missed_work{{ports.scheduler, ports.clock, ports.async_db, scan, tasks},
                         {[](Tx& tx) { return storage::next_ready(tx, {}); },
                          [this](Tx& tx) { return find_forgotten(tx, last_with_unpaid); }},
                         options.maintenance};
};

DeliveryWorker::DeliveryWorker(WorkerPorts ports, WorkerOptions options)
    : parts_(new Parts{.ports = std::move(ports), .options = std::move(options)}) {
  if (parts_->options.lease <= parts_->ports.cloud.call_timeout()) {
    throw std::invalid_argument("the lease must be longer than the timeout of a call to the cloud platform");
  }
}

DeliveryWorker::~DeliveryWorker() = default;

void DeliveryWorker::start() {
  parts_->tasks.start_loop(parts_->leases.run(), "lease loop");
  parts_->tasks.start_loop(parts_->maintenance.run(), "maintenance loop");
  parts_->tasks.start_loop(parts_->missed_work.run(), "missed work loop");
}

void DeliveryWorker::stop(Callback stopped) {
  parts_->maintenance.wake();
  parts_->missed_work.stop();
  parts_->tasks.stop(std::move(stopped));
}

void DeliveryWorker::wake() {
  parts_->tasks.wake();
  parts_->maintenance.wake();
}

}  // namespace presetbridge::services
