// From a queued delivery to a place in its customer's queue, or to the failure that is known without a job
// (spec 3.2, 3.6).
#pragma once

#include <optional>
#include <span>

#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"
#include "storage/database.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// The failure of a delivery that cannot be worked on at all, nothing if it can: no username, no or invalid
// cloud login, no credit left where each of its items that is owed costs one. `items`: its own. Reads rows of
// customers: save() comes before.
std::optional<Change> known_failure(DeliverySet& set, const storage::DeliveryRow& row, Items items);
// Whether one of the items that are owed can be delivered without a credit: it was charged before, or the
// customer's user has the file by another delivery.
bool any_free(DeliverySet& set, const storage::CustomerRow& customer, Items items);

// Gives each of the deliveries, whose status is queued or about to be, its customer's queue at the account's
// cloud account, due now, and wakes that account. The rows are changed, not written. While the account's
// login has not been checked yet there is no cloud account: the delivery then waits for the account task that
// the check's success starts. Dry runs need no queue.
void route(DeliverySet& set, std::span<storage::DeliveryRow* const> rows);

// For a delivery of the set that a change has just brought to queued: route(), or let it fail for a known
// cause.
void queue_or_fail(DeliverySet& set, storage::DeliveryRow& row);

// What of the delivery's order, as it is stored, stands against queueing it and nobody approved.
domain::ReviewReasons unapproved(storage::Tx& tx, DeliveryId delivery);

// Brings the delivery to queued by `change` and on, as queue_or_fail() does; or to review, where `change`
// names reasons for that.
void queue(DeliverySet& set, storage::DeliveryRow& row, const Change& change);

// What stopped a failed delivery was fixed (spec 3.6): it is queued again; or it goes to review for what
// nobody approved.
void resume(DeliverySet& set, storage::DeliveryRow& row);

}  // namespace presetbridge::services
