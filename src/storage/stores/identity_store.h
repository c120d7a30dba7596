// Identities, and the built-in issuer's users, refresh tokens and keys (spec 7).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct IdentityRow {
  AccountId account;
  UserId user;
  std::string role;
  std::string email = {};  // only written: as the issuer says, unless that is the built-in one
};
std::optional<IdentityRow> find_identity(Tx& tx, std::string_view iss, std::string_view sub);
// Locks the row until the transaction ends. False: there is none.
bool lock_identity(Tx& tx, std::string_view iss, std::string_view sub);
// False, and nothing is written: the identity exists.
bool insert_identity(Tx& tx, std::string_view iss, std::string_view sub, const IdentityRow& row);

bool issuer_is_known(Tx& tx, std::string_view iss);
// The `iss` of some identity of a user of the built-in issuer; nothing without users.
std::optional<std::string> issuer_of_users(Tx& tx);

struct UserRow {
  UserId id;
  std::string email;
  std::string password_hash;
};
// False: the e-mail is taken.
bool insert_user(Tx& tx, UserId id, std::string_view email, std::string_view password_hash);
std::optional<UserRow> find_user_by_email(Tx& tx, std::string_view email);
std::optional<UserRow> find_user(Tx& tx, UserId id);
// Locks the row. A transaction that opens a session on a password, or changes a password, holds this lock: neither
// misses the other.
std::optional<UserRow> lock_user(Tx& tx, UserId id);
// False: the e-mail is taken.
bool set_user_email(Tx& tx, UserId id, std::string_view email);
void set_password_hash(Tx& tx, UserId id, std::string_view password_hash);

// Failed attempts to sign in with one e-mail address, whether or not it has a user.
struct SignInAttempts {
  std::int64_t failures = 0;
  Timestamp locked_until;
  Timestamp last_at;
  bool operator==(const SignInAttempts&) const = default;
};
// Nothing: there is no row.
std::optional<SignInAttempts> find_sign_in_attempts(Tx& tx, Blob email_hash);
// Makes the row if there is none, and locks it until the transaction ends.
SignInAttempts lock_sign_in_attempts(Tx& tx, Blob email_hash);
void update_sign_in_attempts(Tx& tx, Blob email_hash, const SignInAttempts& attempts);
void forget_sign_in_attempts(Tx& tx, Blob email_hash);
// Deletes at most `limit` rows that were not written since `before`; returns how many.
std::int64_t delete_old_sign_in_attempts(Tx& tx, Timestamp before, int limit);
// When the row was last written that has `newer` rows after it; nothing if there are not so many. Reads
// that many entries of an index.
std::optional<Timestamp> age_of_sign_in_attempts(Tx& tx, std::int64_t newer);

// Refresh tokens that programs made before there were sessions (session_store.h). The tokens of one sign-in
// are a family.
struct RefreshTokenRow {
  UserId user;
  std::int64_t family = 0;
  Timestamp expires_at;
  std::optional<Timestamp> revoked_at;
};
std::optional<RefreshTokenRow> lock_refresh_token(Tx& tx, Blob hash);
void revoke_refresh_family(Tx& tx, UserId user, std::int64_t family);
void revoke_refresh_tokens_of(Tx& tx, UserId user);
// Deletes at most `limit` tokens that expired before `expired_before`; returns how many.
std::int64_t delete_expired_refresh_tokens(Tx& tx, Timestamp expired_before, int limit);

// The private half is encrypted for the crypto::ValuePlace {kIssuerKey, created_at in milliseconds}.
inline constexpr std::string_view kIssuerKey = "issuer_keys.encrypted_private_jwk";
struct IssuerKeyRow {
  std::string kid;
  std::string public_jwk;
  std::vector<std::byte> encrypted_private_jwk;
  Timestamp created_at;
};
std::vector<IssuerKeyRow> issuer_keys(Tx& tx);  // newest first
void insert_issuer_key(Tx& tx, const IssuerKeyRow& row);
void delete_issuer_key(Tx& tx, std::string_view kid);

}  // namespace presetbridge::storage
