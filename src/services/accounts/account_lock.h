// The lock under which requests change an account.
#pragma once

#include "identity/principal.h"
#include "services/accounts/key_admissions.h"
#include "storage/database.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {

// Locks the account's row until the transaction ends, so that requests that change the account run one after
// another. Throws NOT_FOUND where there is no such account, or its data were deleted after the request was
// admitted.
inline void lock_present_account(storage::Tx& tx, AccountId account) {
  if (!storage::lock_account(tx, account)) throw Error{"NOT_FOUND", "There is no such account.", {}};
}

// lock_present_account() for the account of `by`, who adds something that stays. Throws FORBIDDEN where the person has
// left the account, or the API key was deactivated or has expired, after the request was admitted, and UNAUTHORIZED
// where there is no such key any more.
inline void lock_account_of(storage::Tx& tx, const identity::Principal& by) {
  lock_present_account(tx, by.account);
  if (by.person && !storage::find_person(tx, by.account, by.person->id))
    throw Error{"FORBIDDEN", "You have left this account. Nothing was changed.", {}};
  if (!by.key) return;
  const auto key = storage::find_api_key(tx, by.account, *by.key);
  const auto holder = key ? holder_of(*key, tx.now()) : unknown_key();
  if (!holder) throw Error(holder.error());
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
