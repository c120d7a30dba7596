// Deliveries that have work, for account tasks, sweeps, probes and dry runs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/delivery.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Failed deliveries of an account with that code and an id after `after`, oldest first, at most `limit`.
// Here and below ids alone are returned: a row that cannot be read must not keep the others from being
// found.
std::vector<DeliveryId> find_failed_deliveries(Tx& tx, AccountId account, domain::ResolutionCode code,
                                               DeliveryId after, int limit);
// The items that open deliveries of the account owe and that cost a credit each: counted up to `most`.
std::int64_t count_unpaid_items(Tx& tx, AccountId account, std::int64_t most);
// The first account with an id after `after` that has a delivery which failed for lack of credits.
std::optional<AccountId> next_with_unpaid(Tx& tx, AccountId after);
// Deliveries of an account with ids after `after`, whatever their status, oldest first: for account tasks
// over all of them.
std::vector<DeliveryId> find_deliveries_after(Tx& tx, AccountId account, DeliveryId after, int limit);
// Deliveries of the cloud account that have waited for an answer since `until` or longer, longest first;
// and those that wait of which an older program did not write since when.
std::vector<DeliveryId> find_waiting(Tx& tx, CloudAccountId cloud_account, Timestamp until, int limit);
std::vector<DeliveryId> find_waiting_unknown(Tx& tx, CloudAccountId cloud_account, int limit);
// Whether a delivery of the cloud account waits for an answer, or began to wait after `since` and failed
// because there was no answer or a refusal.
bool any_awaited(Tx& tx, CloudAccountId cloud_account, Timestamp since);
// The deliveries among `ids` whose end the platform's trouble may still delay: open ones, those that failed
// as cloud_unavailable, and those with a share to be settled or revoked.
std::vector<DeliveryId> find_at_work(Tx& tx, std::span<const DeliveryId> ids);
// The first of the cloud account's failed deliveries with an id after `after` that is still probed.
std::optional<DeliveryId> next_to_probe(Tx& tx, CloudAccountId cloud_account, DeliveryId after);
// Queued dry runs of the account, oldest first.
std::vector<DeliveryId> find_dry_runs(Tx& tx, AccountId account, int limit);
// The first account with an id after `after` that has any.
std::optional<AccountId> next_with_dry_runs(Tx& tx, AccountId after);

}  // namespace presetbridge::storage
