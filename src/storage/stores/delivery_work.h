// Deliveries that have work: what account tasks, sweeps, probes and dry runs search for.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/delivery.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Failed deliveries of an account with that code, oldest first, at most `limit`, after `after`. Ids alone,
// here and below: one row that cannot be read must not keep the others from being found.
std::vector<DeliveryId> find_failed_deliveries(Tx& tx, AccountId account, domain::ResolutionCode code,
                                               DeliveryId after, int limit);
// Deliveries of an account after `after`, whatever their status, oldest first: for account tasks over all of
// them.
std::vector<DeliveryId> find_deliveries_after(Tx& tx, AccountId account, DeliveryId after, int limit);
// Deliveries of the cloud account that wait for an answer since `until` or longer, longest first; and those
// of which a program of before did not write since when.
std::vector<DeliveryId> find_waiting(Tx& tx, CloudAccountId cloud_account, Timestamp until, int limit);
std::vector<DeliveryId> find_waiting_unknown(Tx& tx, CloudAccountId cloud_account, int limit);
// Whether a delivery of the cloud account waits for an answer, or failed for want of one and began to wait
// after `since`.
bool any_awaited(Tx& tx, CloudAccountId cloud_account, Timestamp since);
// Those of the deliveries that the platform's trouble may still keep from their end: open, failed as
// cloud_unavailable, or with a share to be settled or taken back.
std::vector<DeliveryId> find_at_work(Tx& tx, std::span<const DeliveryId> ids);
// The first after `after` of the cloud account's failed deliveries that probes try.
std::optional<DeliveryId> next_to_probe(Tx& tx, CloudAccountId cloud_account, DeliveryId after);
// Queued dry runs of the account, oldest first.
std::vector<DeliveryId> find_dry_runs(Tx& tx, AccountId account, int limit);
// The first account after `after` that has any.
std::optional<AccountId> next_with_dry_runs(Tx& tx, AccountId after);

}  // namespace presetbridge::storage
