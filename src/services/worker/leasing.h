// Which jobs start now (spec 3.4): the queue limits, trouble, classes and leases, decided in one transaction
// under the lock of each cloud account's row, so that they hold over all workers, nodes and restarts. It
// waits for nobody's lock: what another transaction holds is left for the next time. So it may lock accounts
// before customers, which everybody else does the other way round.
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

inline constexpr Millis kSetAside{5 * 60'000};

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
  // No job before it, whatever is ready: the service's queue limit, or another node has that in hand.
  std::optional<Timestamp> closed_until;
  // Columns of accounts (of none: the service's) that could not be read: each counts as closed for a minute,
  // and is a fresh one then.
  std::vector<std::pair<CloudAccountId, const char*>> unreadable;
};

// Whose work was at fault (FaultAt). An id that is none: nobody's, or that of one of many.
struct LeasePlace {
  CloudAccountId cloud_account;
  CustomerId customer;
  std::int64_t fence = 0;  // of the lease that the customer's job has; 0: of none
};

// Whether the rows of many accounts are read and written together, or those of one after the other, which is
// slow and tells whose row is at fault.
enum class Pace { together, one_by_one };

// At most `slots` jobs and sweeps together, of accounts that were not ready before `from`. Work of one
// account never waits for another's place: each ready account has the same share of the slots. Throws
// FaultAt<LeasePlace> where it is at one account's.
Leased lease_jobs(storage::Tx& tx, const WorkerOptions& options, Timestamp from, int slots, Pace pace);

// Takes the work of dead or stuck workers back (spec 3.4): leases that ran out, at `from` or later, get a new
// fence, what was pending is obeyed, and the customers are queued again. Returns how many jobs, or, where
// none had run out, how many sweeps. Throws FaultAt<LeasePlace> where it is at one customer's.
int take_over_expired(storage::Tx& tx, DeliveryChanges& changes, Timestamp from, int limit);

// What threw must not hold up others: the customer, or without one the cloud account, is left alone for
// kSetAside; a customer whose job has lost its lease meanwhile is somebody else's to judge.
void set_aside(storage::Tx& tx, const LeasePlace& at);

}  // namespace presetbridge::services
