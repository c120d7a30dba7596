// The vault's records and the standing of an account's cloud login (spec 5.1). The standing is in the
// accounts row: a transaction that writes a failure which it causes locks and reads it again first (spec
// 3.6).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

enum class CredentialsStatus { missing, unchecked, valid, invalid };
std::string_view to_string(CredentialsStatus status);

struct CredentialsStanding {
  CredentialsStatus status = CredentialsStatus::missing;
  std::int64_t version = 0;      // grows with each save and delete
  CloudAccountId cloud_account;  // of the newest login that was valid; none before the first
  bool unreadable = false;       // it is `invalid` because the stored login cannot be opened (spec 5.4)
};
std::optional<CredentialsStanding> find_standing(Tx& tx, AccountId account);
// The standing of each account; `missing` where there is no such account.
std::vector<CredentialsStanding> find_standings(Tx& tx, std::span<const AccountId> accounts);
std::optional<CredentialsStanding> lock_standing(Tx& tx, AccountId account);
void update_standing(Tx& tx, AccountId account, const CredentialsStanding& standing);

// The record without the login itself, which only nodes that log in with it read: a node that only serves
// the API may connect as a role that cannot (storage/postgres/node_roles.h).
struct CredentialsRecord {
  AccountId account;
  std::int64_t version = 0;
  std::string masked_email;
  std::string cloud_username;  // empty until the login was valid once
  Timestamp saved_at;
  std::optional<Timestamp> checked_at;
  std::optional<Timestamp> check_due_at;  // while unchecked: when the background check is due
};
std::optional<CredentialsRecord> find_credentials(Tx& tx, AccountId account);
// Writes the record with a new login, `sealed`.
void put_credentials(Tx& tx, const CredentialsRecord& record, Blob sealed);
// Writes what is known of the stored login, which stays. Nothing happens where there is none.
void update_credentials(Tx& tx, const CredentialsRecord& record);
void delete_credentials(Tx& tx, AccountId account);
struct StoredLogin {
  std::int64_t version = 0;
  std::vector<std::byte> sealed;
};
std::optional<StoredLogin> find_stored_login(Tx& tx, AccountId account);
// Whether any account has a login stored.
bool has_credentials(Tx& tx);
bool any_credentials_to_check(Tx& tx, Timestamp now);
// Takes at most `limit` records whose check is due, for the caller to check: nobody else gets them before
// `until`.
std::vector<CredentialsRecord> take_credentials_to_check(Tx& tx, Timestamp now, Timestamp until, int limit);

}  // namespace presetbridge::storage
