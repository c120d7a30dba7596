#include "identity/membership.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "crypto/opaque_token.h"
#include "domain/credits.h"
#include "identity/audit.h"
#include "storage/stores/account_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/disabled_account_store.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/people_store.h"

namespace presetbridge::identity {

std::optional<Signup> parse_signup(std::string_view text) {
  if (text == "open") return Signup::open;
  if (text == "invite") return Signup::invite;
  if (text == "closed") return Signup::closed;
  return std::nullopt;
}

std::optional<Membership> find_membership(storage::Tx& tx, std::string_view iss, std::string_view sub) {
  const auto row = storage::find_identity(tx, iss, sub);
  if (!row) return std::nullopt;
  return Membership{row->account, row->user, parse_role(row->role)};
}

std::string account_name_of(std::string_view email) {
  const auto name = email.substr(0, email.find('@'));
  return std::string(name.empty() ? "Account" : name);
}

namespace {

void greet(storage::Tx& tx, IdSource& ids, AccountId account, std::int64_t credits) {
  const auto balance = domain::grant({}, credits).value();
  storage::update_balance(tx, account, balance);
  const storage::LedgerEntry entry{.id = ids.make<LedgerId>(),
                                   .at = tx.now(),
                                   .kind = domain::LedgerEntryKind::grant,
                                   .credits = credits,
                                   .note = "for a new account",
                                   .balance_after = balance.within_reach()};
  storage::append_ledger(tx, std::array{storage::LedgerRow{account, entry}});
}

}  // namespace

Membership found_account(storage::Tx& tx, IdSource& ids, UserId user, std::string_view iss,
                         std::string_view sub, std::string_view account_name, std::int64_t signup_credits,
                         std::string_view email, const Origin& origin) {
  if (auto existing = find_membership(tx, iss, sub)) return *existing;
  const auto account = ids.make<AccountId>();
  storage::insert_account(tx, account, account_name);
  if (!storage::insert_identity(tx, iss, sub,
                                {account, user, std::string(to_string(Role::owner)), std::string(email)})) {
    // Another node's transaction came between the read and the insert: roll back, the caller retries.
    throw Error{"CONFLICT", "This identity signed up at the same moment.", {}};
  }
  const Membership member{account, user, Role::owner};
  audit(tx, ids, member, origin,
        {.action = "account.created", .target = to_string(account), .detail = "with its owner"});
  if (signup_credits > 0) greet(tx, ids, account, signup_credits);
  return member;
}

Expected<storage::InvitationRow> find_good_invitation(storage::Tx& tx, std::string_view invitation) {
  const auto hash = crypto::opaque_token_hash(kInvitationPrefix, invitation);
  auto found = hash ? storage::find_invitation(tx, *hash) : std::nullopt;
  if (!found) return invalid_invitation();
  if (std::ranges::binary_search(storage::disabled_accounts(tx), found->account))
    return fail("ACCOUNT_DISABLED",
                "The account that this invitation is of is disabled. Ask whoever runs the service.");
  return std::move(*found);
}

std::unexpected<Error> invalid_invitation() {
  return fail("INVITATION_INVALID",
              "This invitation is unknown, used, revoked or too old. Ask for a new one.");
}

Membership join_account(storage::Tx& tx, IdSource& ids, UserId user, std::string_view iss,
                        std::string_view sub, std::string_view email, std::string_view invitation,
                        const Origin& origin) {
  const Error is_member{
      "ALREADY_MEMBER", "You belong to an account here already; a person belongs to one.", {}};
  const auto found = find_good_invitation(tx, invitation);
  if (!found) throw Error(found.error());
  const auto hash = crypto::opaque_token_hash(kInvitationPrefix, invitation);
  if (find_membership(tx, iss, sub)) throw Error(is_member);
  // The account before the invitation, as all who change an account's people.
  if (!storage::lock_account(tx, found->account) || !storage::take_invitation(tx, *hash))
    throw invalid_invitation().error();
  if (storage::count_people(tx, found->account, kMostPeople).people >= kMostPeople)
    throw Error{"LIMIT_REACHED", "The account has as many people as an account can have.", {}};
  if (!storage::insert_identity(tx, iss, sub, {found->account, user, found->role, std::string(email)}))
    throw Error(is_member);
  const Membership member{found->account, user, parse_role(found->role)};
  audit(tx, ids, member, origin,
        {.action = "person.joined",
         .target = to_string(user),
         .detail = found->role + ", by " + to_string(found->id)});
  return member;
}

}  // namespace presetbridge::identity
