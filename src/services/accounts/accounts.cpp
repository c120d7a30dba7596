#include "services/accounts/accounts.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "identity/audit.h"
#include "identity/mail_links.h"
#include "storage/stores/people_store.h"
#include "storage/stores/session_store.h"

namespace presetbridge::services {

using identity::Membership;
using storage::Tx;

namespace {

identity::Principal principal(const Membership& member, identity::VerifiedToken token) {
  identity::Principal p;
  p.account = member.account;
  p.person = identity::Person{
      member.user,     member.role, std::move(token.iss), std::move(token.sub), std::move(token.email),
      token.expires_at};
  p.permissions = member.role == identity::Role::owner ? identity::PermissionSet::all()
                                                       : identity::PermissionSet::all_but_owners();
  return p;
}

}  // namespace

Task<identity::LoginResult<identity::Principal>> Accounts::principal_of(Executor& executor,
                                                                        identity::VerifiedToken token,
                                                                        CallerOf caller_of) {
  if (token.session) {
    auto of_session = co_await principal_of_session(executor, std::move(token));
    if (!of_session) co_return std::unexpected(of_session.error());
    co_return std::move(*of_session);
  }
  auto known = co_await async_db_.read(
      executor, [&](Tx& tx) { return identity::find_membership(tx, token.iss, token.sub); });
  if (!known) co_return std::unexpected(known.error());
  if (*known) co_return principal(**known, std::move(token));

  if (signup_ != identity::Signup::open) {
    co_return fail("FORBIDDEN",
                   "This identity has no account here, and cannot make one: join by an invitation.");
  }
  const auto caller = caller_of ? caller_of() : net::Caller{};
  const auto now = limit_ ? limit_->clock.now() : Timestamp{};
  const auto wait = limit_ ? limit_->gate.admit(caller, now) : Millis{0};
  if (wait > Millis{0}) co_return std::unexpected(identity::rate_limit_exceeded(wait));
  auto founded = co_await async_db_.write(executor, [&](Tx& tx) {
    return identity::found_account(tx, ids_, ids_.make<UserId>(), token.iss, token.sub,
                                   identity::account_name_of(token.email), signup_credits_, token.email);
  });
  if (!founded) {
    if (limit_) limit_->gate.failed(caller, now, {}, founded.error());
    // Two first requests of one identity at the same moment: the other one has founded it.
    auto meanwhile = co_await async_db_.read(
        executor, [&](Tx& tx) { return identity::find_membership(tx, token.iss, token.sub); });
    if (meanwhile && *meanwhile) co_return principal(**meanwhile, std::move(token));
    co_return std::unexpected(founded.error());
  }
  co_return principal(*founded, std::move(token));
}

Task<Expected<identity::Principal>> Accounts::principal_of_session(Executor& executor,
                                                                   identity::VerifiedToken token) {
  auto found = co_await async_db_.read(
      executor, [&](Tx& tx) { return storage::find_session_member(tx, *token.session); });
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return fail("UNAUTHORIZED", "This session has ended. Sign in again.");
  auto& of = **found;
  const bool browser = of.browser;
  identity::VerifiedToken who = std::move(token);
  who.iss = std::move(of.iss);
  who.sub = std::move(of.sub);
  who.email = std::move(of.email);
  const auto session = who.session;
  const auto authenticated_at = who.auth_time;
  auto p = principal({of.identity.account, of.identity.user, identity::parse_role(of.identity.role)},
                     std::move(who));
  p.person->session = identity::PersonSession{*session, browser, authenticated_at};
  co_return p;
}

Task<Expected<storage::AccountRow>> Accounts::get(Executor& executor, AccountId account) {
  auto row = co_await async_db_.read(executor, [&](Tx& tx) { return storage::find_account(tx, account); });
  if (!row) co_return std::unexpected(row.error());
  if (!*row) co_return fail("NOT_FOUND", "There is no such account.");
  co_return std::move(**row);
}

Task<Expected<std::optional<bool>>> Accounts::email_verified(Executor& executor, identity::Principal by) {
  if (!by.person) co_return std::optional<bool>();
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> std::optional<bool> {
    const auto user = storage::find_user(tx, by.person->id);
    if (!user) return std::nullopt;
    return storage::is_verified_email(tx, user->id, identity::hash_of_email(user->email));
  });
}

Task<Expected<storage::AccountRow>> Accounts::change(Executor& executor, identity::Principal by,
                                                     Change wanted) {
  co_return co_await async_db_.write(executor, [&](Tx& tx) -> Expected<storage::AccountRow> {
    // Another change at the same moment, or the account's end, comes before or after this one.
    const bool there = storage::lock_account(tx, by.account);
    auto row = there ? storage::find_account(tx, by.account) : std::nullopt;
    if (!row) return fail("NOT_FOUND", "There is no such account.");
    const auto before = *row;
    row->name = wanted.name.value_or(row->name);
    row->display_name = wanted.display_name.value_or(row->display_name);
    row->support_email = wanted.support_email.value_or(row->support_email);
    row->support_url = wanted.support_url.value_or(row->support_url);
    storage::update_account(tx, *row);
    audit(tx, ids_, by,
          {.action = "account.changed",
           .changes = {{"name", before.name, row->name},
                       {"displayName", before.display_name, row->display_name},
                       {"supportEmail", before.support_email, row->support_email},
                       {"supportUrl", before.support_url, row->support_url}}});
    return std::move(*row);
  });
}

Task<Expected<storage::Page<storage::AuditRow>>> Accounts::audit_log(Executor& executor, AccountId account,
                                                                     storage::AuditFilter filter,
                                                                     storage::PageRequest page) {
  co_return co_await async_db_.read(executor,
                                    [&](Tx& tx) { return storage::list_audit(tx, account, page, filter); });
}

}  // namespace presetbridge::services
