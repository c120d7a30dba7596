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
// The login of that attempt was no failure.
void clear_login_failure(Tx& tx, std::int64_t id);
void delete_login_attempt(Tx& tx, std::int64_t id);
// The times of failures after `since`, oldest first: with an e-mail address over all accounts, locked, so
// that attempts with one address follow one another; and of an account.
std::vector<Timestamp> lock_failures_of_email(Tx& tx, Blob email_hash, Timestamp since);
std::vector<Timestamp> failures_of_account(Tx& tx, AccountId account, Timestamp since);
// The time of the newest attempt with each other e-mail address, oldest first.
std::vector<Timestamp> other_emails_of_account(Tx& tx, AccountId account, Blob email_hash, Timestamp since);
void delete_login_attempts(Tx& tx, AccountId account, Timestamp before);
// Deletes at most `limit` attempts of any account before `before`; returns how many. As the next one.
std::int64_t delete_old_login_attempts(Tx& tx, Timestamp before, int limit);

// A session is encrypted for the crypto::ValuePlace {kCloudSession, cloud_session_row(hash)}.
inline constexpr std::string_view kCloudSession = "cloud_sessions.session";
std::int64_t cloud_session_row(Blob hash);
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
// Only for nodes that call the platform with it, as find_stored_login() in credential_store.h.
std::optional<std::vector<std::byte>> find_encrypted_session(Tx& tx, Blob hash);
std::int64_t delete_expired_cloud_sessions(Tx& tx, Timestamp now, int limit);

}  // namespace presetbridge::storage
