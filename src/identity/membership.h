// Which account an identity belongs to: (iss, sub) and nothing else, never the e-mail address (spec 7.1).
#pragma once

#include <optional>
#include <string_view>

#include "base/ids.h"
#include "identity/principal.h"
#include "storage/database.h"

namespace presetbridge::identity {

// Who may make an account (spec 7.2). Invitations need mail, which is yet to come: `invite` is not offered.
enum class Signup { open, closed };
std::optional<Signup> parse_signup(std::string_view text);

struct Membership {
  AccountId account;
  UserId user;  // of the built-in issuer's user, or made for the identity of another issuer
  Role role = Role::member;
};

std::optional<Membership> find_membership(storage::Tx& tx, std::string_view iss, std::string_view sub);

// A new account with this identity as its owner, and its audit row. If the identity has an account by now,
// that one is returned and nothing is made: two first requests at once make one account.
Membership found_account(storage::Tx& tx, IdSource& ids, UserId user, std::string_view iss,
                         std::string_view sub, std::string_view account_name);

}  // namespace presetbridge::identity
