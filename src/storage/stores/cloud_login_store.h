// Attempts to log in to the cloud platform, and the sessions that POST /api/auth/login opened (spec 4.3).
// E-mail addresses and tokens are stored as hashes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct LoginAttempt {
  std::int64_t id = 0;
  AccountId account;
  std::vector<std::byte> email_hash;
  Timestamp at;
  bool failed = true;
};
void insert_login_attempt(Tx& tx, const LoginAttempt& row);
// Marks the attempt as one that succeeded.
void clear_login_failure(Tx& tx, std::int64_t id);
void delete_login_attempt(Tx& tx, std::int64_t id);
// The times of failures with the e-mail address after `since`, over all accounts, oldest first. Locks the
// address until the transaction ends, so attempts with one address run one after another.
std::vector<Timestamp> lock_failures_of_email(Tx& tx, Blob email_hash, Timestamp since);
// The times of the account's failures after `since`, oldest first.
std::vector<Timestamp> failures_of_account(Tx& tx, AccountId account, Timestamp since);
// The time of the account's newest attempt after `since` with each other e-mail address, oldest first.
std::vector<Timestamp> other_emails_of_account(Tx& tx, AccountId account, Blob email_hash, Timestamp since);
// Deletes the account's attempts at `before` or earlier.
void delete_login_attempts(Tx& tx, AccountId account, Timestamp before);
// Deletes at most `limit` attempts of any account before `before`; returns how many.
std::int64_t delete_old_login_attempts(Tx& tx, Timestamp before, int limit);

// A session is encrypted for the crypto::ValuePlace {kCloudSession, cloud_session_row(hash)}.
inline constexpr std::string_view kCloudSession = "cloud_sessions.session";
std::int64_t cloud_session_row(Blob hash);

// A session without what is encrypted, which find_encrypted_session() returns.
struct CloudSessionRow {
  std::vector<std::byte> hash;  // of the token
  ApiKeyId key;
  AccountId account;
  std::string cloud_user_id;  // empty: written by a version that did not note it
  Timestamp expires_at;
};
// `encrypted_session` is the session, encrypted under the service key.
void insert_cloud_session(Tx& tx, const CloudSessionRow& row, Blob encrypted_session);
std::optional<CloudSessionRow> find_cloud_session(Tx& tx, Blob hash);
// Only for nodes that call the platform with the session: a node that only serves the API may connect as a
// role that cannot read it (storage/postgres/node_roles.h).
std::optional<std::vector<std::byte>> find_encrypted_session(Tx& tx, Blob hash);
// Deletes at most `limit` sessions that had expired by `now`; returns how many.
std::int64_t delete_expired_cloud_sessions(Tx& tx, Timestamp now, int limit);

}  // namespace presetbridge::storage
