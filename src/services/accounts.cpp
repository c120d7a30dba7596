#include "services/accounts.h"

#include <optional>
#include <utility>

#include "base/error.h"

namespace presetbridge::services {

using identity::Membership;
using storage::Tx;

namespace {

identity::Principal principal(const Membership& member, identity::VerifiedToken token) {
  identity::Principal p;
  p.account = member.account;
  p.person = identity::Person{member.user, member.role, std::move(token.iss), std::move(token.sub),
                              std::move(token.email)};
  p.permissions = identity::PermissionSet::all();
  return p;
}

}  // namespace

Task<Expected<identity::Principal>> Accounts::principal_of(Executor& executor,
                                                           identity::VerifiedToken token) {
  auto known = co_await commits_.read(
      executor, [&](Tx& tx) { return identity::find_membership(tx, token.iss, token.sub); });
  if (!known) co_return std::unexpected(known.error());
  if (*known) co_return principal(**known, std::move(token));

  if (signup_ != identity::Signup::open) {
    co_return fail("FORBIDDEN", "This identity has no account here, and sign-up is closed.");
  }
  auto founded = co_await commits_.write(executor, [&](Tx& tx) {
    const auto name =
        token.email.empty() ? std::string("Account") : token.email.substr(0, token.email.find('@'));
    return identity::found_account(tx, ids_, ids_.make<UserId>(), token.iss, token.sub, name);
  });
  if (!founded) {
    // Two first requests of one identity at the same moment: the other one has founded it.
    auto meanwhile = co_await commits_.read(
        executor, [&](Tx& tx) { return identity::find_membership(tx, token.iss, token.sub); });
    if (meanwhile && *meanwhile) co_return principal(**meanwhile, std::move(token));
    co_return std::unexpected(founded.error());
  }
  co_return principal(*founded, std::move(token));
}

Task<Expected<storage::AccountRow>> Accounts::get(Executor& executor, AccountId account) {
  auto row = co_await commits_.read(executor, [&](Tx& tx) { return storage::find_account(tx, account); });
  if (!row) co_return std::unexpected(row.error());
  if (!*row) co_return fail("NOT_FOUND", "There is no such account.");
  co_return std::move(**row);
}

Task<Expected<storage::Page<storage::AuditRow>>> Accounts::audit_log(Executor& executor, AccountId account,
                                                                     storage::PageRequest page) {
  co_return co_await commits_.read(executor, [&](Tx& tx) { return storage::list_audit(tx, account, page); });
}

}  // namespace presetbridge::services
