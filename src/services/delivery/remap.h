// What a delivery owes, read again from its order and the mappings as they are now (spec 3.11).
#pragma once

#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"

namespace presetbridge::services {

// The whole order, as a retry wants it: items that are not shared yet follow the mappings, and what is mapped
// to nothing any more is dropped, unless that mapping is stale: then the login is another's. An order that is
// too large to be read changes nothing. Both rows are locked. With `lines` not_mapped those alone that are
// new, or another product, since they were mapped: what a stopped order became.
Alignment remap(DeliverySet& set, const storage::DeliveryRow& row,
                domain::MappingIndex::Lines lines = domain::MappingIndex::Lines::all);

// Where the delivery failed as preset_not_found: other files take the place of the missing ones, as far as
// the lines that owe those are mapped to others now; nothing else of the order is mapped again (spec 2.6).
// Whether that changed anything, or the files are asked of another cloud account now than the row's.
bool replace_missing(DeliverySet& set, const storage::DeliveryRow& row);

}  // namespace presetbridge::services
