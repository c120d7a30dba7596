// Runs friend sweeps (sweep.h, spec 3.5): reads the changes of all friendships of a cloud account page by
// page, and then fails the deliveries that have waited too long.
#pragma once

#include <optional>
#include <string>

#include "base/background_tasks.h"
#include "services/worker/cloud_calls.h"
#include "services/worker/leasing.h"
#include "services/worker/sweep.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// Owned by the worker, on its thread. A sweep reads at most 100,000 pages.
class SweepRunner {
 public:
  // `ports`, `options`, `calls` and `tasks` outlive this.
  SweepRunner(const WorkerPorts& ports, const WorkerOptions& options, CloudCalls& calls,
              const BackgroundTasks& tasks)
      : ports_(ports), options_(options), calls_(calls), tasks_(tasks) {}

  // Runs a leased sweep to its end, which schedules the next sweep; where the end cannot be written, the
  // lease runs out. Once `tasks` are stopping, the sweep fails after the page that it waits for, and a later
  // one goes on there.
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
  Task<Expected<TakenIn>> write_page(const SweepLease& lease, const std::string& cursor,
                                     const cloud::FriendshipPage& page);
  Task<void> expire_waiting(const SweepLease& lease);
  void log_fault(const SweepLease& lease, const char* message, const Error& error);

  const WorkerPorts& ports_;
  const WorkerOptions& options_;
  CloudCalls& calls_;
  const BackgroundTasks& tasks_;
};

}  // namespace presetbridge::services
