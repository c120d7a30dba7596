// Routing a queued delivery to its customer's queue, or to the failure that is known without a job (spec 3.2,
// 3.6).
#pragma once

#include <optional>
#include <span>

#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"
#include "storage/database.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// Returns the failure of a delivery that cannot be worked on at all; nothing if it can. It fails for a
// missing username, for a missing or invalid cloud login, and without credits where each of its owed items
// costs one. `items`: its own. Reads rows of customers: save() comes before.
std::optional<Change> known_failure(DeliverySet& set, const storage::DeliveryRow& row, Items items);
// Returns whether one of the owed items can be delivered without a credit: it was charged before, or the
// customer's user has the file by another delivery.
bool any_free(DeliverySet& set, const storage::CustomerRow& customer, Items items);

// Sets the customer and the cloud account of each of the deliveries, whose status is queued or about to be,
// and queues the customers, due now, and wakes the cloud accounts. The rows are changed, not written. While
// the account's login has not been checked yet there is no cloud account: the delivery then waits for the
// account task that a successful check starts. Dry runs have no customer.
void route(DeliverySet& set, std::span<storage::DeliveryRow* const> rows);

// Routes a delivery of the set that a change has just brought to queued, or lets it fail for a known cause.
void queue_or_fail(DeliverySet& set, storage::DeliveryRow& row);

// Returns the obstacles in the delivery's order, as it is stored, that nobody has approved.
domain::ReviewReasons unapproved(DeliverySet& set, DeliveryId delivery);

// Applies `change`, which brings the delivery to queued, and then queue_or_fail(); or to review, where
// `change` has reasons for that.
void queue(DeliverySet& set, storage::DeliveryRow& row, const Change& change);

// Queues a failed delivery whose cause was fixed (spec 3.6), or brings it to review for obstacles that nobody
// has approved.
void resume(DeliverySet& set, storage::DeliveryRow& row);

}  // namespace presetbridge::services
