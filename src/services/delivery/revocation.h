// Taking back what was shared (spec 3.10). It costs and returns no credit, and never changes the delivery's
// status.
#pragma once

#include <span>
#include <string_view>

#include "storage/delivery_store.h"

namespace presetbridge::services {

// Gives up those of the items that reached a customer; returns how many. A file that another delivery to the
// same user owes or has delivered stays, and that delivery is the one that made the share from now on; any
// other is taken back at the platform by a job. What somebody else shared is left alone. `by`: "order" or
// "merchant". The delivery is locked.
int revoke_items(storage::Tx& tx, std::span<storage::ItemRow> items, std::string_view by);

}  // namespace presetbridge::services
