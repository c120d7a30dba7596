#include "services/accounts/people.h"

#include <utility>

#include "crypto/opaque_token.h"
#include "identity/audit.h"
#include "identity/sessions.h"
#include "services/accounts/account_lock.h"
#include "storage/stores/account_store.h"

namespace presetbridge::services {

using identity::Role;
using storage::PersonRow;
using storage::PreferencesRow;
using storage::Tx;

namespace {

std::unexpected<Error> nobody() {
  return fail("NOT_FOUND", "There is no such person in this account.");
}

std::unexpected<Error> no_member() {
  return fail("FORBIDDEN", "You are no longer a member of this account.");
}

using identity::invalid_invitation;

Expected<PersonRow> find_present(Tx& tx, AccountId account, UserId id) {
  auto person = storage::find_person(tx, account, id);
  if (!person) return nobody();
  return std::move(*person);
}

// The person, where the account, which is locked, can do without them as an owner.
Expected<PersonRow> find_dispensable(Tx& tx, AccountId account, UserId id) {
  auto person = find_present(tx, account, id);
  if (person && identity::parse_role(person->role) == Role::owner &&
      storage::count_people(tx, account, identity::kMostPeople).owners < 2)
    return fail("LAST_OWNER", "The account needs an owner. Make somebody else one first.");
  return person;
}

}  // namespace

Task<Expected<storage::Page<PersonRow>>> People::list(Executor& executor, identity::Principal by,
                                                      storage::PageRequest page) {
  co_return co_await deps_.async_db.read(executor,
                                         [&](Tx& tx) { return storage::list_people(tx, by.account, page); });
}

Task<Expected<PersonRow>> People::get(Executor& executor, identity::Principal by, UserId person) {
  co_return co_await deps_.async_db.read(executor,
                                         [&](Tx& tx) { return find_present(tx, by.account, person); });
}

Task<Expected<PersonRow>> People::set_role(Executor& executor, identity::Principal by, UserId person,
                                           Role role) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<PersonRow> {
    lock_account_of_owner(tx, by);
    auto row =
        role == Role::owner ? find_present(tx, by.account, person) : find_dispensable(tx, by.account, person);
    if (!row) return row;
    const auto before = std::exchange(row->role, to_string(role));
    if (row->role == before) return std::move(*row);
    storage::set_role(tx, *row, row->role);
    if (role != Role::owner) storage::delete_invitations_made_by(tx, by.account, person);
    audit(tx, deps_.ids, by,
          {.action = "person.role_changed",
           .target = to_string(person),
           .changes = {{"role", before, row->role}}});
    return std::move(*row);
  });
}

Expected<void> People::remove_in(Tx& tx, const identity::Principal& by, UserId person,
                                 std::string_view action) const {
  const auto row = find_dispensable(tx, by.account, person);
  if (!row) return std::unexpected(row.error());
  // In this order: a sign-in holds the person's row, and its session is seen once that is free.
  storage::delete_person(tx, *row);
  identity::Sessions::end_all(tx, person);
  // Or they would come back by a link of their own.
  storage::delete_invitations_made_by(tx, by.account, person);
  audit(tx, deps_.ids, by, {.action = action, .target = to_string(person), .detail = row->role});
  return {};
}

Task<Expected<void>> People::remove(Executor& executor, identity::Principal by, UserId person) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) {
    lock_account_of_owner(tx, by);
    return remove_in(tx, by, person, "person.removed");
  });
}

Task<Expected<void>> People::leave(Executor& executor, identity::Principal by) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) {
    lock_present_account(tx, by.account);
    return remove_in(tx, by, by.person->id, "person.left");
  });
}

Task<Expected<PreferencesRow>> People::preferences(Executor& executor, identity::Principal by) {
  co_return co_await deps_.async_db.read(executor, [&](Tx& tx) -> Expected<PreferencesRow> {
    auto row = storage::find_preferences(tx, by.account, by.person->id);
    if (!row) return no_member();
    return std::move(*row);
  });
}

Task<Expected<PreferencesRow>> People::set_preferences(Executor& executor, identity::Principal by,
                                                       std::optional<std::int64_t> version,
                                                       std::string content) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<PreferencesRow> {
    const auto before = storage::lock_preferences(tx, by.account, by.person->id);
    if (!before) return no_member();
    if (version && *version != before->version)
      return fail("CONFLICT", "The preferences have changed since that version was read. Read them again.");
    PreferencesRow row{.version = before->version + 1, .content = content};
    storage::set_preferences(tx, by.account, by.person->id, row);
    return row;
  });
}

Task<Expected<People::Invited>> People::invite(Executor& executor, identity::Principal by, Role role,
                                               std::string note, std::optional<Timestamp> expires_at) {
  if (!invitations_)
    co_return fail("SIGNUP_CLOSED", "Nobody can join by an invitation: sign-up is closed here.");
  const auto token = crypto::generate_opaque_token(deps_.random, identity::kInvitationPrefix);
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<Invited> {
    const auto now = tx.now();
    const auto until = expires_at.value_or(now + kInvitationLifetime);
    if (until <= now || until > now + kLongestInvitation)
      return fail("VALIDATION_FAILED", "The request has fields that are not valid.",
                  {{"expiresAt", "must be in the next 30 days"}});
    lock_account_of_owner(tx, by);
    if (storage::count_invitations(tx, by.account, kMostInvitations) >= kMostInvitations)
      return fail("LIMIT_REACHED", "There are 50 invitations that nobody has used. Revoke some first.");
    const storage::InvitationRow row{.id = deps_.ids.make<InvitationId>(),
                                     .account = by.account,
                                     .role = std::string(to_string(role)),
                                     .note = note,
                                     .created_by = to_string(by.actor()),
                                     .created_at = now,
                                     .expires_at = until};
    storage::insert_invitation(tx, row, token.hash);
    audit(tx, deps_.ids, by,
          {.action = "invitation.created", .target = to_string(row.id), .detail = row.role});
    return Invited{row, token.text};
  });
}

Task<Expected<storage::Page<storage::InvitationRow>>> People::invitations(Executor& executor,
                                                                          identity::Principal by,
                                                                          storage::PageRequest page) {
  co_return co_await deps_.async_db.read(
      executor, [&](Tx& tx) { return storage::list_invitations(tx, by.account, page); });
}

Task<Expected<void>> People::revoke(Executor& executor, identity::Principal by, InvitationId id) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<void> {
    lock_account_of_owner(tx, by);
    if (!storage::delete_invitation(tx, by.account, id))
      return fail("NOT_FOUND", "There is no such invitation.");
    audit(tx, deps_.ids, by, {.action = "invitation.revoked", .target = to_string(id)});
    return {};
  });
}

Task<Expected<People::FoundInvitation>> People::find_invitation(Executor& executor, std::string token) {
  co_return co_await deps_.async_db.read(executor, [&](Tx& tx) -> Expected<FoundInvitation> {
    auto row = identity::find_good_invitation(tx, token);
    if (!row) return std::unexpected(row.error());
    auto account = storage::find_account(tx, row->account);
    if (!account) return invalid_invitation();
    return FoundInvitation{std::move(account->name), std::move(*row)};
  });
}

Task<Expected<identity::Membership>> People::join(Executor& executor, std::string token, std::string id_token,
                                                  identity::Origin origin) {
  if (signup_ == identity::Signup::closed)
    co_return fail("SIGNUP_CLOSED", "Sign-up is closed here; ask the operator for an account.");
  auto who = co_await deps_.tokens.verify(executor, std::move(id_token));
  if (!who) co_return std::unexpected(who.error());
  // A person with a session here has an account.
  if (who->session)
    co_return fail("ALREADY_MEMBER", "You belong to an account here already; a person belongs to one.");
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) {
    return identity::join_account(tx, deps_.ids, deps_.ids.make<UserId>(), who->iss, who->sub, who->email,
                                  token, origin);
  });
}

}  // namespace presetbridge::services
