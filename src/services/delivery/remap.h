// What a delivery owes, read again from its order and the mappings as they are now (spec 3.11).
#pragma once

#include "services/delivery/change.h"

namespace presetbridge::services {

// Items that are not shared yet follow the mappings; the row is locked. Whether that changed anything,
// or the files are asked of another cloud account now than the row's. An order of which nothing is mapped any
// more is left as it is: a mapping that is gone must not take away what a retry is to deliver.
bool remap(storage::Tx& tx, DeliveryChanges& changes, const storage::DeliveryRow& row);

}  // namespace presetbridge::services
