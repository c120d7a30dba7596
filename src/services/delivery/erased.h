// Orders whose buyer's data was erased (spec 9.6). They are delivered to nobody any more: an action that
// would start a delivery again, a correction of the name included (spec 3.11), is refused. Shared files can
// still be taken back.
#pragma once

#include "base/error.h"
#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::services {

// Returns whether the delivery's order was erased. Throws the error of decode_order_state() for a damaged
// order.
bool is_erased(storage::Tx& tx, DeliveryId id);

// The refusal, INVALID_TRANSITION.
std::unexpected<Error> refuse_erased();
// Refuses a delivery whose order was erased.
Expected<void> check_not_erased(storage::Tx& tx, DeliveryId id);

}  // namespace presetbridge::services
