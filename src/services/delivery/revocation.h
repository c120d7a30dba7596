// Taking shared files back (spec 3.10). It costs and returns no credit, and never changes the status of their
// delivery.
#pragma once

#include <span>
#include <string_view>

#include "services/delivery/delivery_set.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// Takes back the items of these that reached a customer, and returns how many. A file that another delivery
// to the same user owes or has delivered stays shared: from now on that delivery has made the share, and is
// completed if it owed nothing else. Any other share is revoked at the platform by a job. Shares that
// somebody else made are left alone. `by`: "order" or "merchant". The delivery is locked, and so are, from
// before it was read, its customers and those of its items (hold_customers_of).
int revoke_items(DeliverySet& set, std::span<storage::ItemRow* const> items, std::string_view by);

// Returns whether the delivery goes on only if a merchant says so. Until then an item that perhaps was taken
// back (revoke_failed) stays so, and is not owed again.
bool waits_for_merchant(const storage::DeliveryRow& row);

// Takes back refunded files (spec 2.11): of the delivery's `items` those in `refunded` (domain::ItemPlan),
// and the items of former customers for the same files.
void revoke_refunded(DeliverySet& set, std::span<storage::ItemRow* const> items,
                     std::span<const ItemId> refunded);

}  // namespace presetbridge::services
