// The people of an account (spec 7.1, 7.2): who they are, what they may, and the links by which more join.
// Owners alone change them; the API asks for that (Permission::owner).
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "identity/membership.h"
#include "identity/principal.h"
#include "identity/token_verifier.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {

inline constexpr int kMostInvitations = 50;  // of an account, that are good at one time
inline constexpr Millis kInvitationLifetime = std::chrono::days{7};  // unless another time is asked for
inline constexpr Millis kLongestInvitation = std::chrono::days{30};

// Thread-safe; tasks resume on `executor`.
class People {
 public:
  // All outlive this. `signup`: who may join by the built-in issuer, and by tokens of trusted ones.
  // `invitations`: whether there is a way in which an invitation is any good.
  struct Deps {
    storage::AsyncDatabase& async_db;
    IdSource& ids;
    Random& random;
    identity::TokenVerifier& tokens;
  };
  People(Deps deps, identity::Signup signup, bool invitations)
      : deps_(deps), signup_(signup), invitations_(invitations) {}

  Task<Expected<storage::Page<storage::PersonRow>>> list(Executor& executor, identity::Principal by,
                                                         storage::PageRequest page);
  Task<Expected<storage::PersonRow>> get(Executor& executor, identity::Principal by, UserId person);
  // Making an owner a member ends the invitations that they made. NOT_FOUND: the account has no such person.
  // LAST_OWNER: the account would have no owner. FORBIDDEN: `by` is an owner no more.
  Task<Expected<storage::PersonRow>> set_role(Executor& executor, identity::Principal by, UserId person,
                                              identity::Role role);
  // Ends the person's sessions and invitations, and deletes their personal data. Errors as above.
  Task<Expected<void>> remove(Executor& executor, identity::Principal by, UserId person);
  // Removes the caller. NOT_FOUND and LAST_OWNER as above.
  Task<Expected<void>> leave(Executor& executor, identity::Principal by);

  // The caller's preferences. FORBIDDEN: they belong to the account no more.
  Task<Expected<storage::PreferencesRow>> preferences(Executor& executor, identity::Principal by);
  // Replaces the caller's preferences. CONFLICT: `version` is given and is not the stored one. FORBIDDEN.
  Task<Expected<storage::PreferencesRow>> set_preferences(Executor& executor, identity::Principal by,
                                                          std::optional<std::int64_t> version,
                                                          std::string content);

  struct Invited {
    storage::InvitationRow row;
    std::string token;  // shown once
  };
  // SIGNUP_CLOSED: nobody could use it. VALIDATION_FAILED: of the time. LIMIT_REACHED. FORBIDDEN: `by` is an
  // owner no more.
  Task<Expected<Invited>> invite(Executor& executor, identity::Principal by, identity::Role role,
                                 std::string note, std::optional<Timestamp> expires_at);
  Task<Expected<storage::Page<storage::InvitationRow>>> invitations(Executor& executor,
                                                                    identity::Principal by,
                                                                    storage::PageRequest page);
  // NOT_FOUND. FORBIDDEN: as above.
  Task<Expected<void>> revoke(Executor& executor, identity::Principal by, InvitationId id);

  struct FoundInvitation {
    std::string account_name;
    storage::InvitationRow row;
  };
  // Shows an invitation to whoever has its token. INVITATION_INVALID, ACCOUNT_DISABLED.
  Task<Expected<FoundInvitation>> find_invitation(Executor& executor, std::string token);
  // The identity of a trusted issuer's ID token joins. UNAUTHORIZED: the token is not valid, or of a session
  // here. SIGNUP_CLOSED, INVITATION_INVALID, ACCOUNT_DISABLED, ALREADY_MEMBER, LIMIT_REACHED.
  Task<Expected<identity::Membership>> join(Executor& executor, std::string token, std::string id_token,
                                            identity::Origin origin);

 private:
  // In `tx`, under the account's lock.
  Expected<void> remove_in(storage::Tx& tx, const identity::Principal& by, UserId person,
                           std::string_view action) const;

  const Deps deps_;
  const identity::Signup signup_;
  const bool invitations_;
};

}  // namespace presetbridge::services
