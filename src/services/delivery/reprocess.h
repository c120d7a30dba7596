// Processing an order again, for a person or a key: all of its lines are mapped with the present mappings
// (spec 2.6, 9.3). Files that it owes in addition are queued, items without a mapping are dropped, and an
// order that is not deliverable stays as it is.
#pragma once

#include "base/error.h"
#include "domain/delivery.h"
#include "services/delivery/fulfilment.h"

namespace presetbridge::services {

// INVALID_TRANSITION with the reason where the order must not be processed again: its store is inactive (`active`); it
// is not paid, stopped, erased or has not come; or its delivery (null: it has none) was invalidated by a person, or has
// more lines than are read.
Expected<void> may_reprocess(const domain::OrderState& state, const storage::DeliveryRow* delivery,
                             bool active);

// `locked`: the order, as this transaction has locked it. `rules`: the present ones of its store. A new
// delivery is held where the store holds its orders; it counts for the usage of `key`, or for none.
//
// Returns the error of may_reprocess(), and changes nothing. Throws INVALID_TRANSITION, so that the transaction is
// rolled back, where the mappings make more files of the order than are served.
Expected<void> reprocess_order(storage::Tx& tx, DeliveryChanges& changes, storage::OrderRow locked,
                               const FulfilmentRules& rules, domain::Actor actor, ApiKeyId key);

}  // namespace presetbridge::services
