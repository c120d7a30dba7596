// Friend sweeps (spec 3.5): a job that reads all changes of a cloud account's friendships, page by page. Each
// page is one transaction under the sweep's fence.
#pragma once

#include <string>
#include <vector>

#include "cloud/cloud.h"
#include "services/delivery/change.h"
#include "services/worker/job.h"
#include "services/worker/leasing.h"
#include "services/worker/worker_options.h"

namespace presetbridge::services {

enum class TakenIn {
  whole,
  in_part,     // there is more to resume than one transaction resumes: the page is to be taken in once more
  lease_lost,  // the page is taken in nevertheless, in part perhaps; the sweep must end
};

// Takes in one page and renews the lease. `cursor` is where the page began. The next sweep begins there, so
// that it reads a change made while the page was read, and continues a sweep that failed or whose process
// died.
TakenIn take_in_page(storage::Tx& tx, DeliveryChanges& changes, const WorkerOptions& options,
                     const SweepLease& lease, const std::string& cursor, const cloud::FriendshipPage& page);

// Fails deliveries that have waited for 14 days, `limit` at most. Returns how many rows it changed; if
// that is `limit`, call it again.
int expire_waiting(storage::Tx& tx, DeliveryChanges& changes, const SweepLease& lease, int limit);

// Releases the lease and schedules the next sweep. `read`: this one has read its pages; one without a login
// reads nothing and does not count as made. Like fail_sweep(), does nothing if the lease is lost.
void end_sweep(storage::Tx& tx, const WorkerOptions& options, const SweepLease& lease, bool read);

// For a call that the platform did not answer, or refused. Releases the lease, and makes the sweep due in a
// minute, later the longer it has failed, or when the platform's limit ends; half a minute later, and that is
// no trouble, where the call was not made for lack of a place for the login. The sweep continues at its
// last page, or at the first one if the platform refused the call itself.
void fail_sweep(storage::Tx& tx, const SweepLease& lease, const cloud::CloudError& error);

}  // namespace presetbridge::services
