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

// Takes in one page and renews the lease. `cursor` is where the page began. The next sweep begins there
// again: a change that was made while the page was read is not missed, and a sweep that failed, or whose
// process died, goes on there. Returns false where the lease is lost: the page is taken in all the same, and
// the sweep must end.
bool take_in_page(storage::Tx& tx, DeliveryChanges& changes, const WorkerOptions& options,
                  const SweepLease& lease, const std::string& cursor, const cloud::FriendshipPage& page);

// Fails deliveries that have waited for 14 days, `limit` at most. Returns how many rows it changed; while
// that is `limit`, it is to be called again.
int expire_waiting(storage::Tx& tx, DeliveryChanges& changes, const SweepLease& lease, int limit);

// Releases the lease and schedules the next sweep. Does nothing where the lease is lost; so does
// fail_sweep().
void end_sweep(storage::Tx& tx, const WorkerOptions& options, const SweepLease& lease);

// The platform did not answer, or refused: releases the lease and makes the sweep due again in a minute or
// later, the longer it has failed, or when the platform's limit ends. It goes on from its last page, or from
// the first one where the platform refused the call itself.
void fail_sweep(storage::Tx& tx, const SweepLease& lease, const cloud::CloudError& error);

}  // namespace presetbridge::services
