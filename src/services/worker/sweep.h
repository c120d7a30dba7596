// Friend sweeps (spec 3.5): one job that learns what changed in all of a cloud account's friendships, page by
// page, each page one transaction under the sweep's fence.
#pragma once

#include <string>
#include <vector>

#include "cloud/cloud.h"
#include "services/delivery/change.h"
#include "services/worker/job.h"
#include "services/worker/leasing.h"
#include "services/worker/worker_options.h"

namespace presetbridge::services {

// Takes in one page and renews the lease. `cursor` is where the page began: the next sweep begins there
// again, so that what changed while it was read is not missed, and one that failed, or whose process died,
// goes on instead of starting afresh. False: the lease is lost, stop.
bool take_in_page(storage::Tx& tx, DeliveryChanges& changes, const WorkerOptions& options,
                  const SweepLease& lease, const std::string& cursor, const cloud::FriendshipPage& page);

// Fails the deliveries that have waited for 14 days; call until it returns less than `limit`.
int expire_waiting(storage::Tx& tx, DeliveryChanges& changes, const SweepLease& lease, int limit);

// Releases the lease and schedules the next sweep.
void end_sweep(storage::Tx& tx, const WorkerOptions& options, const SweepLease& lease);

// The platform did not answer, or refused: the sweep goes on in a minute, later the longer it fails, or when
// a limit ends; from the start of all pages where the platform refused the call itself.
void fail_sweep(storage::Tx& tx, const SweepLease& lease, const cloud::CloudError& error);

}  // namespace presetbridge::services
