// Account tasks (storage/stores/account_task_store.h), a batch at a time: the effect of a change of an
// account's login, credits, mappings or platform on its many deliveries (spec 3.5, 3.6, 3.11). And dry runs,
// which need neither the platform nor credits (spec 2.11).
#pragma once

#include <set>
#include <vector>

#include "services/delivery/change.h"
#include "storage/stores/account_task_store.h"

namespace presetbridge::services {

inline constexpr int kAccountTaskBatch = 200;  // deliveries in one transaction

// Deliveries that threw and are left alone for a while: they must not hold up those after them.
using PostponedDeliveries = std::set<DeliveryId>;

enum class AccountTaskProgress {
  under_way,  // there may be a next batch
  ended,      // the task is deleted
  waiting     // all but the postponed deliveries are done: the task goes on from the first of these later
};

// Does the next batch of a task as find_account_tasks() returned it, once the task may begin
// (account_task_starts.h). Leaves `postponed` out, which are of the task's account. Throws
// WorkFault<DeliveryId> with the delivery at fault. Locks in the order of
// docs/decisions/0018-order-of-locks.md.
AccountTaskProgress do_account_task_batch(storage::Tx& tx, DeliveryChanges& changes,
                                          storage::AccountTask task, const PostponedDeliveries& postponed);

// Accounts that have credits which no open delivery needs, while deliveries have failed for lack of credits: what
// another one owed cost nothing in the end, say (spec 3.6). Reads some hundred accounts after `last`, and sets
// it to the last of them, and to none behind the end. By rising id.
std::vector<AccountId> next_with_spare_credits(storage::Tx& tx, AccountId& last);
// Has such credits resume deliveries, if there still are any, and no resume_credits is under way. Locks the
// account.
void give_out_spare_credits(storage::Tx& tx, AccountId account);

// Queued dry runs, about kAccountTaskBatch, of up to eight accounts that have any: those after `last`, and
// then from the first account again, so that one with many keeps no other waiting. Sets `last` to the last of
// these accounts. Returns of each account `postponed` more than its share.
std::vector<DeliveryId> next_dry_runs(storage::Tx& tx, AccountId& last, int postponed);
// Completes those of these dry runs that are still queued. Throws WorkFault<DeliveryId> with the one at
// fault.
void complete_dry_runs(storage::Tx& tx, DeliveryChanges& changes, const std::vector<DeliveryId>& ids);

}  // namespace presetbridge::services
