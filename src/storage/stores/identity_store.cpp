#include "storage/stores/identity_store.h"

#include <utility>

namespace presetbridge::storage {
namespace {

constexpr Sql kIssuerIsKnown{"SELECT sub FROM identities WHERE iss = $1 LIMIT 1"};
constexpr Sql kIssuerOfUsers{
    "SELECT iss FROM identities WHERE EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id) LIMIT "
    "1"};
constexpr Sql kFindIdentity{"SELECT account_id, user_id, role FROM identities WHERE iss = $1 AND sub = $2"};
constexpr Sql kLockIdentity{"SELECT user_id FROM identities WHERE iss = $1 AND sub = $2 <for_update>"};
constexpr Sql kInsertIdentity{
    "INSERT INTO identities (iss, sub, account_id, user_id, role, created_at, email) VALUES ($1, $2, $3, $4, "
    "$5, $6, $7)"
    " ON CONFLICT (iss, sub) DO NOTHING"};

constexpr Sql kInsertUser{
    "INSERT INTO users (id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)"
    " ON CONFLICT (email) DO NOTHING"};
constexpr Sql kFindUserByEmail{"SELECT id, email, password_hash FROM users WHERE email = $1"};
constexpr Sql kFindUser{"SELECT id, email, password_hash FROM users WHERE id = $1"};
constexpr Sql kLockUser{"SELECT id, email, password_hash FROM users WHERE id = $1 <for_update>"};
constexpr Sql kSetEmail{
    "UPDATE users SET email = $2 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM users WHERE email = $2)"};
constexpr Sql kSetPassword{"UPDATE users SET password_hash = $2 WHERE id = $1"};

constexpr Sql kMakeAttempts{
    "INSERT INTO sign_in_tries (email_hash, failures, locked_until, last_at) VALUES ($1, 0, 0, $2)"
    " ON CONFLICT (email_hash) DO NOTHING"};
constexpr Sql kLockAttempts{
    "SELECT failures, locked_until, last_at FROM sign_in_tries WHERE email_hash = $1 <for_update>"};
constexpr Sql kFindAttempts{
    "SELECT failures, locked_until, last_at FROM sign_in_tries WHERE email_hash = $1"};
constexpr Sql kUpdateAttempts{
    "UPDATE sign_in_tries SET failures = $2, locked_until = $3, last_at = $4 WHERE email_hash = $1"};
constexpr Sql kForgetAttempts{"DELETE FROM sign_in_tries WHERE email_hash = $1"};
constexpr Sql kDeleteOldAttempts{
    "DELETE FROM sign_in_tries WHERE email_hash IN"
    " (SELECT email_hash FROM sign_in_tries WHERE last_at < $1 ORDER BY last_at LIMIT $2)"
    " AND last_at < $1"};  // again, for a row that was changed since
constexpr Sql kAgeOfAttempts{"SELECT last_at FROM sign_in_tries ORDER BY last_at DESC LIMIT 1 OFFSET $1"};

constexpr Sql kLockToken{
    "SELECT user_id, family, expires_at, revoked_at FROM refresh_tokens WHERE hash = $1 <for_update>"};
constexpr Sql kRevokeFamily{
    "UPDATE refresh_tokens SET revoked_at = $3 WHERE user_id = $1 AND family = $2 AND revoked_at IS NULL"};
constexpr Sql kRevokeAll{
    "UPDATE refresh_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL"};
constexpr Sql kDeleteExpired{
    "DELETE FROM refresh_tokens WHERE hash IN"
    " (SELECT hash FROM refresh_tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"};

constexpr Sql kIssuerKeys{
    "SELECT kid, public_jwk, encrypted_private_jwk, created_at FROM issuer_keys ORDER BY created_at DESC, "
    "kid"};
constexpr Sql kInsertIssuerKey{
    "INSERT INTO issuer_keys (kid, public_jwk, encrypted_private_jwk, created_at) VALUES ($1, $2, $3, $4)"};
constexpr Sql kDeleteIssuerKey{"DELETE FROM issuer_keys WHERE kid = $1"};

UserRow user_row(const Row& r) {
  return {r.id<UserId>(0), r.string(1), r.string(2)};
}

SignInAttempts read_attempts(const Row& r) {
  return {r.int64(0), r.time(1), r.time(2)};
}

}  // namespace

bool issuer_is_known(Tx& tx, std::string_view iss) {
  return tx.one(kIssuerIsKnown, iss, [](const Row&) { return true; }).value_or(false);
}
std::optional<std::string> issuer_of_users(Tx& tx) {
  return tx.one(kIssuerOfUsers, [](const Row& r) { return r.string(0); });
}

std::optional<IdentityRow> find_identity(Tx& tx, std::string_view iss, std::string_view sub) {
  return tx.one(kFindIdentity, iss, sub,
                [](const Row& r) { return IdentityRow{r.id<AccountId>(0), r.id<UserId>(1), r.string(2)}; });
}

bool lock_identity(Tx& tx, std::string_view iss, std::string_view sub) {
  return tx.one(kLockIdentity, iss, sub, [](const Row&) { return true; }).value_or(false);
}

bool insert_identity(Tx& tx, std::string_view iss, std::string_view sub, const IdentityRow& row) {
  return tx.exec(kInsertIdentity, iss, sub, row.account, row.user, row.role, tx.now(), row.email) == 1;
}

bool insert_user(Tx& tx, UserId id, std::string_view email, std::string_view password_hash) {
  return tx.exec(kInsertUser, id, email, password_hash, tx.now()) == 1;
}

std::optional<UserRow> find_user_by_email(Tx& tx, std::string_view email) {
  return tx.one(kFindUserByEmail, email, user_row);
}

std::optional<UserRow> find_user(Tx& tx, UserId id) {
  return tx.one(kFindUser, id, user_row);
}
std::optional<UserRow> lock_user(Tx& tx, UserId id) {
  return tx.one(kLockUser, id, user_row);
}

bool set_user_email(Tx& tx, UserId id, std::string_view email) {
  return tx.exec(kSetEmail, id, email) == 1;
}

void set_password_hash(Tx& tx, UserId id, std::string_view password_hash) {
  tx.exec(kSetPassword, id, password_hash);
}

std::optional<SignInAttempts> find_sign_in_attempts(Tx& tx, Blob email_hash) {
  return tx.one(kFindAttempts, email_hash, read_attempts);
}

SignInAttempts lock_sign_in_attempts(Tx& tx, Blob email_hash) {
  tx.exec(kMakeAttempts, email_hash, tx.now());
  return tx.one(kLockAttempts, email_hash, read_attempts).value_or(SignInAttempts{0, Timestamp{}, tx.now()});
}

void update_sign_in_attempts(Tx& tx, Blob email_hash, const SignInAttempts& attempts) {
  tx.exec(kUpdateAttempts, email_hash, attempts.failures, attempts.locked_until, attempts.last_at);
}

void forget_sign_in_attempts(Tx& tx, Blob email_hash) {
  tx.exec(kForgetAttempts, email_hash);
}

std::int64_t delete_old_sign_in_attempts(Tx& tx, Timestamp before, int limit) {
  return tx.exec(kDeleteOldAttempts, before, limit);
}

std::optional<Timestamp> age_of_sign_in_attempts(Tx& tx, std::int64_t newer) {
  return tx.one(kAgeOfAttempts, newer, [](const Row& r) { return r.time(0); });
}

std::optional<RefreshTokenRow> lock_refresh_token(Tx& tx, Blob hash) {
  return tx.one(kLockToken, hash, [](const Row& r) {
    return RefreshTokenRow{r.id<UserId>(0), r.int64(1), r.time(2), r.opt_time(3)};
  });
}

void revoke_refresh_family(Tx& tx, UserId user, std::int64_t family) {
  tx.exec(kRevokeFamily, user, family, tx.now());
}

void revoke_refresh_tokens_of(Tx& tx, UserId user) {
  tx.exec(kRevokeAll, user, tx.now());
}

std::int64_t delete_expired_refresh_tokens(Tx& tx, Timestamp expired_before, int limit) {
  return tx.exec(kDeleteExpired, expired_before, limit);
}

std::vector<IssuerKeyRow> issuer_keys(Tx& tx) {
  std::vector<IssuerKeyRow> keys;
  tx.query(kIssuerKeys, [&](const Row& r) {
    const Blob sealed = r.bytes(2);
    keys.push_back({r.string(0), r.string(1), {sealed.begin(), sealed.end()}, r.time(3)});
  });
  return keys;
}

void insert_issuer_key(Tx& tx, const IssuerKeyRow& row) {
  tx.exec(kInsertIssuerKey, row.kid, row.public_jwk, Blob(row.encrypted_private_jwk), row.created_at);
}

void delete_issuer_key(Tx& tx, std::string_view kid) {
  tx.exec(kDeleteIssuerKey, kid);
}

}  // namespace presetbridge::storage
