#include "identity/membership.h"

#include "base/error.h"
#include "domain/delivery.h"
#include "storage/account_store.h"
#include "storage/audit_store.h"
#include "storage/identity_store.h"

namespace presetbridge::identity {

std::optional<Signup> parse_signup(std::string_view text) {
  if (text == "open") return Signup::open;
  if (text == "closed") return Signup::closed;
  return std::nullopt;
}

std::optional<Membership> find_membership(storage::Tx& tx, std::string_view iss, std::string_view sub) {
  const auto row = storage::find_identity(tx, iss, sub);
  if (!row) return std::nullopt;
  return Membership{row->account, row->user, row->role == "owner" ? Role::owner : Role::member};
}

Membership found_account(storage::Tx& tx, IdSource& ids, UserId user, std::string_view iss,
                         std::string_view sub, std::string_view account_name) {
  if (auto existing = find_membership(tx, iss, sub)) return *existing;
  const auto account = ids.make<AccountId>();
  storage::insert_account(tx, account, account_name);
  if (!storage::insert_identity(tx, iss, sub, {account, user, std::string(to_string(Role::owner))})) {
    // Another node's transaction came between the look and the insert: roll back, the caller tries again.
    throw Error{"CONFLICT", "This identity signed up at the same moment.", {}};
  }
  storage::insert_audit(tx, ids,
                        {.account = account,
                         .actor = to_string(domain::Actor::user(user)),
                         .action = "account.created",
                         .target = to_string(account),
                         .detail = "with its owner"});
  return {account, user, Role::owner};
}

}  // namespace presetbridge::identity
