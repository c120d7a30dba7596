#include "storage/stores/people_store.h"

#include <utility>
#include <vector>

#include "storage/stores/mail_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kLockAccount{"SELECT id FROM accounts WHERE id = $1 AND deleted_at IS NULL <for_update>"};

#define PDB_PERSON_COLUMNS                                   \
  "i.user_id, i.role, i.iss, i.sub, i.email, i.created_at, " \
  "(SELECT email FROM users WHERE id = i.user_id) FROM identities i"
constexpr Sql kList{"SELECT " PDB_PERSON_COLUMNS
                    " WHERE i.account_id = $1 AND i.user_id < $2 ORDER BY i.user_id DESC LIMIT $3"};
constexpr Sql kFind{"SELECT " PDB_PERSON_COLUMNS " WHERE i.account_id = $1 AND i.user_id = $2"};
constexpr Sql kRoles{"SELECT role FROM identities WHERE account_id = $1 LIMIT $2"};
constexpr Sql kSetRole{"UPDATE identities SET role = $3 WHERE iss = $1 AND sub = $2"};
constexpr Sql kSetEmail{"UPDATE identities SET email = $3 WHERE iss = $1 AND sub = $2 AND email <> $3"};
constexpr Sql kDeleteIdentity{"DELETE FROM identities WHERE iss = $1 AND sub = $2"};
#define PDB_PREFERENCES \
  "SELECT preferences_version, preferences FROM identities WHERE account_id = $1 AND user_id = $2"
constexpr Sql kPreferences{PDB_PREFERENCES};
constexpr Sql kLockPreferences{PDB_PREFERENCES " <for_update>"};
constexpr Sql kSetPreferences{
    "UPDATE identities SET preferences = $4, preferences_version = $3 WHERE account_id = $1 AND user_id = "
    "$2"};
// The row stays, since refresh tokens of older programs refer to it. No e-mail address is like an id.
constexpr Sql kBlankUser{"UPDATE users SET email = $2, password_hash = '' WHERE id = $1"};

#define PDB_INVITATION_COLUMNS "id, account_id, role, note, created_by, created_at, expires_at"
constexpr Sql kInvite{"INSERT INTO invitations (" PDB_INVITATION_COLUMNS
                      ", token_hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"};
constexpr Sql kListInvitations{"SELECT " PDB_INVITATION_COLUMNS
                               " FROM invitations WHERE account_id = $1 AND id < $2 AND expires_at > $4"
                               " ORDER BY id DESC LIMIT $3"};
constexpr Sql kInvitationIds{"SELECT id FROM invitations WHERE account_id = $1 AND expires_at > $2 LIMIT $3"};
constexpr Sql kFindInvitation{"SELECT " PDB_INVITATION_COLUMNS
                              " FROM invitations WHERE token_hash = $1 AND expires_at > $2"};
constexpr Sql kTake{
    "DELETE FROM invitations WHERE token_hash = $1 AND expires_at > $2 RETURNING " PDB_INVITATION_COLUMNS};
constexpr Sql kRevoke{"DELETE FROM invitations WHERE id = $1 AND account_id = $2 AND expires_at > $3"};
constexpr Sql kRevokeAll{"DELETE FROM invitations WHERE account_id = $1"};
constexpr Sql kRevokeAllBy{"DELETE FROM invitations WHERE account_id = $1 AND created_by = $2"};
constexpr Sql kDeleteExpired{
    "DELETE FROM invitations WHERE id IN"
    " (SELECT id FROM invitations WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"};

PersonRow person_row(const Row& r) {
  return {.id = r.id<UserId>(0),
          .role = r.string(1),
          .iss = r.string(2),
          .sub = r.string(3),
          .email = r.is_null(6) ? r.string(4) : r.string(6),
          .joined_at = r.time(5)};
}

PreferencesRow preferences_row(const Row& r) {
  return {.version = r.int64(0), .content = r.string(1)};
}

InvitationRow invitation_row(const Row& r) {
  return {.id = r.id<InvitationId>(0),
          .account = r.id<AccountId>(1),
          .role = r.string(2),
          .note = r.string(3),
          .created_by = r.string(4),
          .created_at = r.time(5),
          .expires_at = r.time(6)};
}

}  // namespace

bool lock_account(Tx& tx, AccountId account) {
  return tx.one(kLockAccount, account, [](const Row&) { return true; }).value_or(false);
}

Page<PersonRow> list_people(Tx& tx, AccountId account, const PageRequest& page) {
  std::vector<PersonRow> rows;
  tx.query(kList, account, page.before, page.fetch(), [&](const Row& r) { rows.push_back(person_row(r)); });
  return make_page(std::move(rows), page, [](const PersonRow& row) { return row.id.value; });
}

std::optional<PersonRow> find_person(Tx& tx, AccountId account, UserId id) {
  return tx.one(kFind, account, id, person_row);
}

PeopleCount count_people(Tx& tx, AccountId account, int most) {
  PeopleCount count;
  tx.query(kRoles, account, most, [&](const Row& r) {
    ++count.people;
    if (r.text(0) == "owner") ++count.owners;
  });
  return count;
}

void set_role(Tx& tx, const PersonRow& person, std::string_view role) {
  tx.exec(kSetRole, person.iss, person.sub, role);
}

void set_identity_email(Tx& tx, std::string_view iss, std::string_view sub, std::string_view email) {
  tx.exec(kSetEmail, iss, sub, email);
}

void delete_person(Tx& tx, const PersonRow& person) {
  tx.exec(kDeleteIdentity, person.iss, person.sub);
  tx.exec(kBlankUser, person.id, to_string(person.id));
  delete_verified_email(tx, person.id);
}

std::optional<PreferencesRow> find_preferences(Tx& tx, AccountId account, UserId id) {
  return tx.one(kPreferences, account, id, preferences_row);
}

std::optional<PreferencesRow> lock_preferences(Tx& tx, AccountId account, UserId id) {
  return tx.one(kLockPreferences, account, id, preferences_row);
}

void set_preferences(Tx& tx, AccountId account, UserId id, const PreferencesRow& row) {
  tx.exec(kSetPreferences, account, id, row.version, row.content);
}

void insert_invitation(Tx& tx, const InvitationRow& row, Blob token_hash) {
  tx.exec(kInvite, row.id, row.account, row.role, row.note, row.created_by, row.created_at, row.expires_at,
          token_hash);
}

Page<InvitationRow> list_invitations(Tx& tx, AccountId account, const PageRequest& page) {
  std::vector<InvitationRow> rows;
  tx.query(kListInvitations, account, page.before, page.fetch(), tx.now(),
           [&](const Row& r) { rows.push_back(invitation_row(r)); });
  return make_page(std::move(rows), page, [](const InvitationRow& row) { return row.id.value; });
}

std::int64_t count_invitations(Tx& tx, AccountId account, int most) {
  std::int64_t count = 0;
  tx.query(kInvitationIds, account, tx.now(), most, [&](const Row&) { ++count; });
  return count;
}

std::optional<InvitationRow> find_invitation(Tx& tx, Blob token_hash) {
  return tx.one(kFindInvitation, token_hash, tx.now(), invitation_row);
}

std::optional<InvitationRow> take_invitation(Tx& tx, Blob token_hash) {
  return tx.one(kTake, token_hash, tx.now(), invitation_row);
}

bool delete_invitation(Tx& tx, AccountId account, InvitationId id) {
  return tx.exec(kRevoke, id, account, tx.now()) == 1;
}

void delete_invitations_of(Tx& tx, AccountId account) {
  tx.exec(kRevokeAll, account);
}

void delete_invitations_made_by(Tx& tx, AccountId account, UserId person) {
  tx.exec(kRevokeAllBy, account, to_string(person));
}

std::int64_t delete_expired_invitations(Tx& tx, Timestamp expired_before, int limit) {
  return tx.exec(kDeleteExpired, expired_before, limit);
}

}  // namespace presetbridge::storage
