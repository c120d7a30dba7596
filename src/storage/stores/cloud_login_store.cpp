#include "storage/stores/cloud_login_store.h"

#include <algorithm>
#include <cstring>

#include "base/id_time.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kInsertAttempt{
    "INSERT INTO cloud_login_tries (id, account_id, email_hash, at, failed) VALUES ($1, $2, $3, $4, $5)"};
constexpr Sql kClear{"UPDATE cloud_login_tries SET failed = 0 WHERE id = $1"};
constexpr Sql kDeleteAttempt{"DELETE FROM cloud_login_tries WHERE id = $1"};
constexpr Sql kLockEmail{"SELECT CAST(pg_advisory_xact_lock($1) AS TEXT)"};
constexpr Sql kOfEmail{
    "SELECT at FROM cloud_login_tries WHERE email_hash = $1 AND at > $2 AND failed = 1 ORDER BY at"};
constexpr Sql kOfAccount{
    "SELECT at FROM cloud_login_tries WHERE account_id = $1 AND at > $2 AND failed = 1 ORDER BY at"};
constexpr Sql kOtherEmails{
    "SELECT max(at) FROM cloud_login_tries WHERE account_id = $1 AND email_hash <> $2 AND at > $3 GROUP BY "
    "email_hash"};
constexpr Sql kDeleteAttempts{"DELETE FROM cloud_login_tries WHERE account_id = $1 AND at <= $2"};
constexpr Sql kDeleteOldAttempts{
    "DELETE FROM cloud_login_tries WHERE id IN"
    " (SELECT id FROM cloud_login_tries WHERE id < $1 ORDER BY id LIMIT $2)"};

constexpr Sql kInsertSession{
    "INSERT INTO cloud_sessions (hash, api_key_id, account_id, cloud_user_id, expires_at, encrypted_session) "
    "VALUES ($1, $2, $3, $4, $5, $6)"};
constexpr Sql kFindSession{
    "SELECT hash, api_key_id, account_id, cloud_user_id, expires_at FROM cloud_sessions WHERE hash = $1"};
constexpr Sql kFindEncrypted{"SELECT encrypted_session FROM cloud_sessions WHERE hash = $1"};
// The table has the sessions of a few hours, and no index by time.
constexpr Sql kDeleteExpired{
    "DELETE FROM cloud_sessions WHERE hash IN (SELECT hash FROM cloud_sessions WHERE expires_at <= $1 LIMIT "
    "$2)"};

std::vector<std::byte> copy(Blob blob) {
  return {blob.begin(), blob.end()};
}

// The first 64 bits of a hash.
std::int64_t prefix_of(Blob hash) {
  std::int64_t prefix = 0;
  std::memcpy(&prefix, hash.data(), std::min(sizeof prefix, hash.size()));
  return prefix;
}

std::vector<Timestamp> times_of(Tx& tx, const Sql& sql, const auto&... params) {
  std::vector<Timestamp> times;
  tx.query(sql, params..., [&](const Row& r) { times.push_back(r.time(0)); });
  return times;
}

}  // namespace

void insert_login_attempt(Tx& tx, const LoginAttempt& row) {
  tx.exec(kInsertAttempt, row.id, row.account, Blob(row.email_hash), row.at, row.failed);
}
void clear_login_failure(Tx& tx, std::int64_t id) {
  tx.exec(kClear, id);
}
void delete_login_attempt(Tx& tx, std::int64_t id) {
  tx.exec(kDeleteAttempt, id);
}

std::vector<Timestamp> lock_failures_of_email(Tx& tx, Blob email_hash, Timestamp since) {
  // There may be no row yet to lock.
  if (tx.others_write()) tx.query(kLockEmail, prefix_of(email_hash), [](const Row&) {});
  return times_of(tx, kOfEmail, email_hash, since);
}
std::vector<Timestamp> failures_of_account(Tx& tx, AccountId account, Timestamp since) {
  return times_of(tx, kOfAccount, account, since);
}
std::vector<Timestamp> other_emails_of_account(Tx& tx, AccountId account, Blob email_hash, Timestamp since) {
  auto times = times_of(tx, kOtherEmails, account, email_hash, since);
  std::ranges::sort(times);
  return times;
}
void delete_login_attempts(Tx& tx, AccountId account, Timestamp before) {
  tx.exec(kDeleteAttempts, account, before);
}

std::int64_t delete_old_login_attempts(Tx& tx, Timestamp before, int limit) {
  return tx.exec(kDeleteOldAttempts, first_id_at(before), limit);
}

void insert_cloud_session(Tx& tx, const CloudSessionRow& row, Blob encrypted_session) {
  tx.exec(kInsertSession, Blob(row.hash), row.key, row.account, row.cloud_user_id, row.expires_at,
          encrypted_session);
}
std::optional<CloudSessionRow> find_cloud_session(Tx& tx, Blob hash) {
  return tx.one(kFindSession, hash, [](const Row& r) {
    return CloudSessionRow{copy(r.bytes(0)), r.id<ApiKeyId>(1), r.id<AccountId>(2), r.string(3), r.time(4)};
  });
}
std::optional<std::vector<std::byte>> find_encrypted_session(Tx& tx, Blob hash) {
  return tx.one(kFindEncrypted, hash, [](const Row& r) { return copy(r.bytes(0)); });
}
std::int64_t delete_expired_cloud_sessions(Tx& tx, Timestamp now, int limit) {
  return tx.exec(kDeleteExpired, now, limit);
}

std::int64_t cloud_session_row(Blob hash) {
  return prefix_of(hash);
}

}  // namespace presetbridge::storage
