// The deletion of an account's personal data, as far as it is done at once (spec 7.2, 9.6).
#pragma once

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Call it under the account's lock (lock_account()). It archives the account's stores and deletes their
// addresses, makes its keys inactive, deletes its subscriptions and invitations, blanks the merchant's
// names and addresses, and the username of the cloud account unless another account uses that. Ids, stores'
// names, ledger and purchases stay. The caller ends sessions, and deletes the people and the cloud login.
void delete_account_data(Tx& tx, AccountId account);

// Blanks `network` and `changes` in the audit log of deleted accounts, in at most `limit` entries; returns
// in how many.
std::int64_t blank_audit_of_deleted(Tx& tx, int limit);

}  // namespace presetbridge::storage
