// The people of an account (spec 7.1), and the links by which more people join it (spec 7.2). Callers
// change an account's people under the lock of its row (lock_account()), so that the second of two changes
// sees the first: an account that has people has an owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge {
struct InvitationKind {
  static constexpr std::string_view prefix = "inv";
};
using InvitationId = Id<InvitationKind>;
}  // namespace presetbridge

namespace presetbridge::storage {

// False: there is no such account, or its data were deleted.
bool lock_account(Tx& tx, AccountId account);

struct PersonRow {
  UserId id;
  std::string role;
  std::string iss;
  std::string sub;
  std::string email;  // of the built-in issuer's user, or as another issuer stated it; may be empty
  Timestamp joined_at;
};
// Newest first.
Page<PersonRow> list_people(Tx& tx, AccountId account, const PageRequest& page);
std::optional<PersonRow> find_person(Tx& tx, AccountId account, UserId id);
// The number of people, and of owners among them; reads `most` at most.
struct PeopleCount {
  std::int64_t people = 0;
  std::int64_t owners = 0;
};
PeopleCount count_people(Tx& tx, AccountId account, int most);
void set_role(Tx& tx, const PersonRow& person, std::string_view role);
// Writes the e-mail address that the issuer states now, if it has changed.
void set_identity_email(Tx& tx, std::string_view iss, std::string_view sub, std::string_view email);
// Deletes the identity, so that nobody can sign in as this person, and blanks e-mail address and password
// of the built-in issuer's user. Timelines and the audit log retain the id. The caller ends the sessions.
void delete_person(Tx& tx, const PersonRow& person);

// A person's settings for their own screens.
struct PreferencesRow {
  std::int64_t version = 0;  // the number of changes
  std::string content;       // JSON; empty: nothing was set
};
// Nothing: the account has no such person.
std::optional<PreferencesRow> find_preferences(Tx& tx, AccountId account, UserId id);
std::optional<PreferencesRow> lock_preferences(Tx& tx, AccountId account, UserId id);
void set_preferences(Tx& tx, AccountId account, UserId id, const PreferencesRow& row);

struct InvitationRow {
  InvitationId id;
  AccountId account;
  std::string role;
  std::string note;
  std::string created_by;  // domain::to_string(Actor)
  Timestamp created_at;
  Timestamp expires_at;
};
void insert_invitation(Tx& tx, const InvitationRow& row, Blob token_hash);
// Invitations that have not expired, newest first.
Page<InvitationRow> list_invitations(Tx& tx, AccountId account, const PageRequest& page);
std::int64_t count_invitations(Tx& tx, AccountId account, int most);
// Nothing: no invitation has this token, or it has expired.
std::optional<InvitationRow> find_invitation(Tx& tx, Blob token_hash);
// Deletes and returns the invitation, unless it has expired. Only one of several transactions gets it.
std::optional<InvitationRow> take_invitation(Tx& tx, Blob token_hash);
// False: the account has no invitation with this id, or it has expired.
bool delete_invitation(Tx& tx, AccountId account, InvitationId id);
void delete_invitations_of(Tx& tx, AccountId account);
void delete_invitations_made_by(Tx& tx, AccountId account, UserId person);
// Deletes at most `limit` invitations that expired before `expired_before`; returns how many.
std::int64_t delete_expired_invitations(Tx& tx, Timestamp expired_before, int limit);

}  // namespace presetbridge::storage
