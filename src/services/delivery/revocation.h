// Taking back what was shared (spec 3.10). It costs and returns no credit, and never changes the delivery's
// status.
#pragma once

#include <span>
#include <string_view>

#include "services/delivery/delivery_set.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// Gives up those of the items that reached a customer; returns how many. A file that another delivery to the
// same user owes or has delivered stays, and that delivery is the one that made the share from now on: it is
// completed, if that was all that it owed. Any other is taken back at the platform by a job. What somebody
// else shared is left alone. `by`: "order" or "merchant". The delivery is locked, and before it was read its
// customers were, those of its items included (hold_customers_of).
int revoke_items(DeliverySet& set, std::span<storage::ItemRow* const> items, std::string_view by);

// Whether the delivery goes on only if a merchant says so: until then what perhaps was taken back
// (revoke_failed) stays so, and is not owed again.
bool rests(const storage::DeliveryRow& row);

// Takes back what is refunded, line by line (spec 2.11): `refunded` of the delivery's `items`, as
// domain::ItemPlan has it, and former customers' copies of the same files.
void revoke_refunded(DeliverySet& set, std::span<storage::ItemRow* const> items,
                     std::span<const ItemId> refunded);

}  // namespace presetbridge::services
