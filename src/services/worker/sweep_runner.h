// Runs friend sweeps (sweep.h, spec 3.5): page after page of what changed in all friendships of a cloud
// account, then the deliveries that have waited too long.
#pragma once

#include <optional>
#include <string>

#include "base/background_tasks.h"
#include "services/worker/cloud_calls.h"
#include "services/worker/leasing.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// Owned by the worker, on its thread. A sweep reads a bounded number of pages.
class SweepRunner {
 public:
  // All outlive this.
  SweepRunner(const WorkerPorts& ports, const WorkerOptions& options, CloudCalls& calls,
              const BackgroundTasks& tasks)
      : ports_(ports), options_(options), calls_(calls), tasks_(tasks) {}

  // From a lease to its end, which schedules the next sweep. Where that cannot be written, the lease runs
  // out. Once the tasks are stopping, the sweep fails with the page that it waits for, and goes on there
  // later.
  Task<void> run(SweepLease lease);

 private:
  // How the reading of pages ended.
  struct Reading {
    bool own = true;  // the lease still holds
    std::optional<cloud::CloudError> failure;
  };
  Task<Reading> read_pages(const SweepLease& lease, AccountId owner);
  // Returns whether the lease still holds.
  Task<bool> take_in(const SweepLease& lease, const std::string& cursor, const cloud::FriendshipPage& page);
  Task<void> expire_waiting(const SweepLease& lease);
  void log_fault(const SweepLease& lease, const char* message, const Error& error);

  const WorkerPorts& ports_;
  const WorkerOptions& options_;
  CloudCalls& calls_;
  const BackgroundTasks& tasks_;
};

}  // namespace presetbridge::services
