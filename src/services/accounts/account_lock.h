// The lock under which requests change an account.
#pragma once

#include "storage/database.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {

// Locks the account's row until the transaction ends, so that one request of the account counts at a time.
// Throws NOT_FOUND where there is no such account, or its data were deleted after the request was admitted.
inline void lock_present_account(storage::Tx& tx, AccountId account) {
  if (!storage::lock_account(tx, account)) throw Error{"NOT_FOUND", "There is no such account.", {}};
}

}  // namespace presetbridge::services
