// Account tasks (storage/stores/account_task_store.h), a piece at a time: what a change of an account's login, credits or
// platform means for its many deliveries (spec 3.5, 3.6, 3.11). And dry runs, which need neither cloud nor
// credits (spec 2.11).
#pragma once

#include <set>
#include <vector>

#include "services/delivery/change.h"
#include "storage/stores/account_task_store.h"

namespace presetbridge::services {

inline constexpr int kAccountTaskBatch = 200;  // deliveries in one transaction

// Deliveries that threw, and are left alone for a while: they must not hold up those behind them.
using Aside = std::set<DeliveryId>;

enum class AccountTaskProgress {
  under_way,
  ended,   // and is gone
  waiting  // but for what is aside: to be done again, from there on, when that is tried again
};

// Does the next piece of an account task as find_account_tasks showed it, once it may begin (account_task_starts.h). Throws
// FaultAt<DeliveryId> where it is at one delivery.
AccountTaskProgress do_account_task_batch(storage::Tx& tx, DeliveryChanges& changes,
                                          storage::AccountTask task, const Aside& aside);

// Queued dry runs, a piece of them: accounts take turns from the one after `turn` on, which becomes the last
// of these, so that one with many keeps no other waiting. Of each as many more as are `aside`.
std::vector<DeliveryId> dry_runs_in_turn(storage::Tx& tx, AccountId& turn, int aside);
// Completes these dry runs, as far as they are queued still. Throws FaultAt<DeliveryId>.
void run_dry(storage::Tx& tx, DeliveryChanges& changes, const std::vector<DeliveryId>& ids);

}  // namespace presetbridge::services
