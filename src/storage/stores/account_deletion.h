// What goes at once when an account's personal data are deleted (spec 7.2, 9.6).
#pragma once

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Under the account's lock (lock_account()): its stores are archived, its keys inactive, its subscriptions
// and invitations gone, its people unknown, and so is the merchant. Ids, stores' names, ledger and purchases
// stay. People's sessions and the cloud login are the caller's.
void delete_account_data(Tx& tx, AccountId account);

// Entries of the audit log of deleted accounts that tell where somebody was, or what something was called:
// they tell it no more, at most `limit` of them; how many.
std::int64_t blank_audit_of_deleted(Tx& tx, int limit);

}  // namespace presetbridge::storage
