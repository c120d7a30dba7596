// Which account an identity belongs to: (iss, sub) and nothing else, never the e-mail address (spec 7.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "identity/principal.h"
#include "storage/database.h"
#include "storage/stores/people_store.h"

namespace presetbridge::identity {

// Who may join (spec 7.2): anybody, with an account of their own, or by an invitation; by an invitation
// alone; nobody but whom the operator makes an account for.
enum class Signup { open, invite, closed };
std::optional<Signup> parse_signup(std::string_view text);

struct Membership {
  AccountId account;
  UserId user;  // of the built-in issuer's user, or made for the identity of another issuer
  Role role = Role::member;
};

std::optional<Membership> find_membership(storage::Tx& tx, std::string_view iss, std::string_view sub);

// The name of a new account that nobody named: the text before the @.
std::string account_name_of(std::string_view email);

// A new account with this identity as its owner, and its audit row. If the identity has an account by now,
// that one is returned and nothing is made: two first requests at once make one account. It is greeted with
// so many credits (spec 11.1). `email`: as the issuer says, where that is another than the built-in one.
Membership found_account(storage::Tx& tx, IdSource& ids, UserId user, std::string_view iss,
                         std::string_view sub, std::string_view account_name, std::int64_t signup_credits = 0,
                         std::string_view email = {}, const Origin& origin = {});

inline constexpr std::string_view kInvitationPrefix = "pdb_invite_";
inline constexpr int kMostPeople = 50;  // of an account

// Whether somebody could join by it. INVITATION_INVALID: it is unknown, used, revoked or expired.
// ACCOUNT_DISABLED: its account is, by the operator; once it is enabled the invitation is good again.
Expected<storage::InvitationRow> find_good_invitation(storage::Tx& tx, std::string_view invitation);
std::unexpected<Error> invalid_invitation();  // INVITATION_INVALID

// An identity of nobody joins the account that the invitation's token is of, which is used up, with its audit
// row. INVITATION_INVALID and ACCOUNT_DISABLED (as above), ALREADY_MEMBER (the identity has an account) and
// LIMIT_REACHED are thrown, as an Error: then the caller's transaction writes nothing.
Membership join_account(storage::Tx& tx, IdSource& ids, UserId user, std::string_view iss,
                        std::string_view sub, std::string_view email, std::string_view invitation,
                        const Origin& origin);

}  // namespace presetbridge::identity
