// The lock under which requests change an account.
#pragma once

#include "identity/principal.h"
#include "storage/database.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {

// Locks the account's row until the transaction ends, so that requests that change the account run one after
// another. Throws NOT_FOUND where there is no such account, or its data were deleted after the request was
// admitted.
inline void lock_present_account(storage::Tx& tx, AccountId account) {
  if (!storage::lock_account(tx, account)) throw Error{"NOT_FOUND", "There is no such account.", {}};
}

// lock_present_account() for the account of `by`, in a request that only owners may make. Throws FORBIDDEN
// where the person has left the account, or lost that role, after the request was admitted. No API key has that role.
inline void lock_account_of_owner(storage::Tx& tx, const identity::Principal& by) {
  lock_present_account(tx, by.account);
  if (!by.person) return;
  const auto person = storage::find_person(tx, by.account, by.person->id);
  if (!person || person->role != to_string(identity::Role::owner))
    throw Error{"FORBIDDEN", "You are no longer an owner of this account. Nothing was changed.", {}};
}

}  // namespace presetbridge::services
