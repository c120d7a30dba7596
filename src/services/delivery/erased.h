// An order whose buyer's data was erased (spec 9.6) is delivered to nobody any more: what would start that
// again, a correction of the name included (spec 3.11), is refused. What was shared can still be taken back.
#pragma once

#include "base/error.h"
#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::services {

// Of the delivery's order. Throws what decode_order_state() tells of a damaged one.
bool is_erased(storage::Tx& tx, DeliveryId id);

// The refusal, INVALID_TRANSITION; and it where the delivery's order was erased.
std::unexpected<Error> nobody_to_deliver_to();
Expected<void> check_not_erased(storage::Tx& tx, DeliveryId id);

}  // namespace presetbridge::services
