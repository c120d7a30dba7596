// Leasing: which jobs start now (spec 3.4), by the queue limits, the trouble of cloud accounts, the classes
// of jobs and the leases that there are. It is decided in one transaction under the lock of each cloud
// account's row, so it holds over all workers, nodes and restarts. Leasing waits for nobody's lock: rows that
// another transaction holds are left for the next time. So it may lock accounts before customers, while all
// others lock customers first (docs/decisions/0018-order-of-locks.md).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/delivery/change.h"
#include "services/worker/job.h"
#include "services/worker/worker_options.h"
#include "storage/database.h"

namespace presetbridge::services {

inline constexpr Millis kPostponement{5 * 60'000};  // of work that threw

struct SweepLease {
  CloudAccountId cloud_account;
  std::int64_t fence = 0;
  std::string cursor;
  Timestamp began{};
  std::string cloud_user{};  // the platform's id of the account
};

struct Leased {
  std::vector<Job> jobs;
  std::vector<SweepLease> sweeps;
  std::optional<Timestamp> next_ready;  // when there may be more
  Timestamp at{};                       // the database's time of the transaction
  // No job starts before it, whatever is ready: the service's queue limit, or another node has that locked.
  std::optional<Timestamp> closed_until;
  // Columns of accounts (none: of the service) that could not be read. Each was replaced by a value that
  // closes the queue for a minute.
  std::vector<std::pair<CloudAccountId, const char*>> unreadable;
};

// The work at which a transaction failed (WorkFault). An id that is none: of nobody, or of one of many.
struct LeasedWork {
  CloudAccountId cloud_account;
  CustomerId customer;
  std::int64_t fence = 0;  // of the lease that the customer's job has; 0: of none
};

// Whether the rows of all accounts are read and written together, or those of one account after the other,
// which is slow and shows whose row is at fault.
enum class Pace { together, one_by_one };

// Leases at most `slots` jobs and sweeps together, of accounts that were not ready before `from`. No
// account's work waits for another's: the slots are divided among the ready accounts. With Pace::one_by_one
// throws WorkFault<LeasedWork> with the account at fault.
Leased lease_jobs(storage::Tx& tx, const WorkerOptions& options, Timestamp from, int slots, Pace pace);

// Takes back the work of dead or stuck workers (spec 3.4), at most `limit`: jobs whose lease ran out at
// `from` or later get a new fence, pending actions are obeyed, and the customers are queued again. Where
// there are none, sweeps whose lease ran out are made due. Returns how many jobs, or sweeps. Throws
// WorkFault<LeasedWork> with the customer at fault.
int take_over_expired(storage::Tx& tx, DeliveryChanges& changes, Timestamp from, int limit);

// Leaves the customer, or without one the cloud account, alone for kPostponement. With a fence, a customer
// whose job has lost that lease meanwhile stays as it is: another job has it.
void postpone(storage::Tx& tx, const LeasedWork& work);

}  // namespace presetbridge::services
