// Chores (storage/chore_store.h), a piece at a time: what a change of an account's login, credits or platform
// means for its many deliveries (spec 3.5, 3.6, 3.11). And dry runs, which need neither cloud nor credits
// (spec 2.11).
#pragma once

#include "services/delivery/change.h"
#include "storage/chore_store.h"

namespace presetbridge::services {

inline constexpr int kChorePiece = 200;  // deliveries in one transaction

// Does the next piece; the chore is gone when nothing is left of it.
void do_chore(storage::Tx& tx, DeliveryChanges& changes, storage::Chore chore);

// Completes queued dry runs; returns how many (at most kChorePiece).
int run_dry(storage::Tx& tx, DeliveryChanges& changes);

}  // namespace presetbridge::services
