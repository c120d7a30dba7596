// Mapping the order of a delivery again, with the mappings as they are now (spec 3.11).
#pragma once

#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"

namespace presetbridge::services {

// Maps the whole order, for a retry: items that are not shared yet follow the mappings, and an item without a
// mapping is dropped, unless some mappings are stale, as the login then is another's. An order that is too
// large to be read changes nothing. With `lines` not_mapped it maps only lines that are new, or another
// product, since they were mapped: those that changed while the order was stopped. The order and the delivery
// are locked.
Alignment remap(DeliverySet& set, const storage::DeliveryRow& row,
                domain::MappingIndex::Lines lines = domain::MappingIndex::Lines::all);

// Replaces the missing files of a delivery that failed as preset_not_found. Each paid line that owes one gets as
// many files of its present mappings as it misses; no other line of the order is mapped again (spec 2.6). Returns
// whether that changed anything, or the account uses another cloud account now than the row's.
bool replace_missing(DeliverySet& set, const storage::DeliveryRow& row);

}  // namespace presetbridge::services
