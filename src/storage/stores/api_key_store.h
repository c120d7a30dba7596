// Rows of `api_keys` (spec 6.1). A key is found by the SHA-256 of its text; its rate log is an encoded
// domain::RateWindow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge::storage {

struct ApiKeyRow {
  ApiKeyId id;
  AccountId account;
  std::string name;
  std::string preview;
  bool active = true;
  std::string permissions;      // comma-separated names
  std::string integration_ids;  // comma-separated decimals; empty: all
  std::int64_t rate_limit = 0;
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<Timestamp> last_active_at;
  std::optional<ApiKeyId> rotated_from;
  std::int64_t requests = 0;
  std::int64_t deliveries = 0;
  std::vector<std::byte> rate_log = {};  // update_api_key() does not write it
};
struct ApiKeyWithLog {
  ApiKeyRow row;
  std::vector<std::byte> rate_log;
};

void insert_api_key(Tx& tx, const ApiKeyRow& row, Blob hash);
std::optional<ApiKeyRow> find_api_key(Tx& tx, AccountId account, ApiKeyId id);
// Locks the row until the transaction ends.
std::optional<ApiKeyRow> lock_api_key(Tx& tx, AccountId account, ApiKeyId id);
// Of any account: for the operator, and for a key that an integration names.
std::optional<ApiKeyRow> find_api_key(Tx& tx, ApiKeyId id);
std::optional<ApiKeyRow> find_api_key_by_hash(Tx& tx, Blob hash);
// Locks the row until the transaction ends.
std::optional<ApiKeyWithLog> lock_api_key_by_hash(Tx& tx, Blob hash);
// Newest first; `active`: only keys that are active, or only those that are not.
Page<ApiKeyRow> list_api_keys(Tx& tx, AccountId account, const PageRequest& page, std::optional<bool> active);
// The keys that are active and not expired. Call it under lock_account(): otherwise two transactions may
// each add the last one that is allowed.
std::int64_t count_active_api_keys(Tx& tx, AccountId account);
// Whether a key of the account has the successor that a rotation made.
bool is_rotated(Tx& tx, AccountId account, ApiKeyId id);
// Writes name, active, permissions, integration_ids, rate_limit and expires_at of `row`.
void update_api_key(Tx& tx, const ApiKeyRow& row);
// So many admitted requests: the log after them, and the time of last use.
void record_api_key_requests(Tx& tx, ApiKeyId id, std::int64_t requests, Blob rate_log);
// Replaces the log, without a request.
void replace_api_key_rate_log(Tx& tx, ApiKeyId id, Blob rate_log);
// Counts webhooks with the key or of integrations that it owns (spec 2.4), and the deliveries that they
// made: usage without the limit.
void count_api_key_webhook(Tx& tx, ApiKeyId id, std::int64_t requests, std::int64_t deliveries);

}  // namespace presetbridge::storage
