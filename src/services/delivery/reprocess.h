// An order processed again: all of it is mapped with the mappings of now, as whoever asks for it wants
// (spec 2.6, 9.3). What it owes more is queued, what is mapped to nothing any more is dropped, and what is
// not deliverable stays as it is.
#pragma once

#include "base/error.h"
#include "domain/delivery.h"
#include "services/delivery/fulfilment.h"

namespace presetbridge::services {

// `order` is locked and is written here; `rules` are its store's, of now. A delivery that is made by it is
// held where the store holds its orders. True: a delivery was made.
//
// INVALID_TRANSITION, and nothing is changed: the store is inactive; the order is not paid, stopped, erased
// or has not come; its delivery was invalidated by a person; it has more lines than are read. Thrown, so that
// what was begun is rolled back: the mappings make more files of it than are served.
Expected<bool> reprocess_order(storage::Tx& tx, DeliveryChanges& changes, storage::OrderRow& order,
                               const FulfilmentRules& rules, domain::Actor actor);

}  // namespace presetbridge::services
