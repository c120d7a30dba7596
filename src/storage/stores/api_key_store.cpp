#include "storage/stores/api_key_store.h"

namespace presetbridge::storage {
namespace {

#define PDB_API_KEY_COLUMNS                                                                       \
  "id, account_id, name, preview, active, permissions, integration_ids, rate_limit, created_at, " \
  "expires_at, last_active_at, rotated_from, requests, deliveries, rate_log"
constexpr Sql kInsert{
    "INSERT INTO api_keys (id, account_id, name, preview, hash, active, permissions, integration_ids, "
    "rate_limit,"
    " rate_log, created_at, expires_at, rotated_from) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, "
    "$12, $13)"};
constexpr Sql kFind{"SELECT " PDB_API_KEY_COLUMNS " FROM api_keys WHERE id = $1 AND account_id = $2"};
constexpr Sql kLock{"SELECT " PDB_API_KEY_COLUMNS
                    " FROM api_keys WHERE id = $1 AND account_id = $2 <for_update>"};
constexpr Sql kFindById{"SELECT " PDB_API_KEY_COLUMNS " FROM api_keys WHERE id = $1"};
constexpr Sql kFindByHash{"SELECT " PDB_API_KEY_COLUMNS " FROM api_keys WHERE hash = $1"};
constexpr Sql kLockByHash{"SELECT " PDB_API_KEY_COLUMNS " FROM api_keys WHERE hash = $1 <for_update>"};
constexpr Sql kList{"SELECT " PDB_API_KEY_COLUMNS
                    " FROM api_keys WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"};
constexpr Sql kListActive{
    "SELECT " PDB_API_KEY_COLUMNS
    " FROM api_keys WHERE account_id = $1 AND id < $2 AND active = $4 ORDER BY id DESC LIMIT $3"};
constexpr Sql kCountActive{
    "SELECT CAST(count(*) AS BIGINT) FROM api_keys"
    " WHERE account_id = $1 AND active = 1 AND (expires_at IS NULL OR expires_at > $2)"};
constexpr Sql kUpdate{
    "UPDATE api_keys SET name = $2, active = $3, permissions = $4, integration_ids = $5, rate_limit = $6,"
    " expires_at = $7 WHERE id = $1"};
constexpr Sql kRecord{
    "UPDATE api_keys SET rate_log = $2, last_active_at = $3, requests = requests + 1 WHERE id = $1"};
constexpr Sql kReplaceLog{"UPDATE api_keys SET rate_log = $2 WHERE id = $1"};
constexpr Sql kCountUse{
    "UPDATE api_keys SET requests = requests + $2, deliveries = deliveries + $3, last_active_at = $4 WHERE "
    "id = $1"};

ApiKeyRow key_row(const Row& r) {
  ApiKeyRow row;
  row.id = r.id<ApiKeyId>(0);
  row.account = r.id<AccountId>(1);
  row.name = r.string(2);
  row.preview = r.string(3);
  row.active = r.flag(4);
  row.permissions = r.string(5);
  row.integration_ids = r.string(6);
  row.rate_limit = r.int64(7);
  row.created_at = r.time(8);
  row.expires_at = r.opt_time(9);
  row.last_active_at = r.opt_time(10);
  if (auto from = r.opt_int64(11)) row.rotated_from = ApiKeyId{*from};
  row.requests = r.int64(12);
  row.deliveries = r.int64(13);
  const Blob log = r.bytes(14);
  row.rate_log.assign(log.begin(), log.end());
  return row;
}

}  // namespace

void insert_api_key(Tx& tx, const ApiKeyRow& row, Blob hash) {
  tx.exec(kInsert, row.id, row.account, row.name, row.preview, hash, row.active, row.permissions,
          row.integration_ids, row.rate_limit, Blob{}, row.created_at, row.expires_at, row.rotated_from);
}

std::optional<ApiKeyRow> find_api_key(Tx& tx, AccountId account, ApiKeyId id) {
  return tx.one(kFind, id, account, key_row);
}

std::optional<ApiKeyRow> lock_api_key(Tx& tx, AccountId account, ApiKeyId id) {
  return tx.one(kLock, id, account, key_row);
}

std::optional<ApiKeyRow> find_api_key(Tx& tx, ApiKeyId id) {
  return tx.one(kFindById, id, key_row);
}

std::optional<ApiKeyRow> find_api_key_by_hash(Tx& tx, Blob hash) {
  return tx.one(kFindByHash, hash, key_row);
}

std::optional<ApiKeyWithLog> lock_api_key_by_hash(Tx& tx, Blob hash) {
  return tx.one(kLockByHash, hash, [](const Row& r) {
    auto row = key_row(r);
    auto log = row.rate_log;
    return ApiKeyWithLog{std::move(row), std::move(log)};
  });
}

Page<ApiKeyRow> list_api_keys(Tx& tx, AccountId account, const PageRequest& page,
                              std::optional<bool> active) {
  std::vector<ApiKeyRow> rows;
  const auto add = [&](const Row& r) { rows.push_back(key_row(r)); };
  if (active) {
    tx.query(kListActive, account, page.before, page.fetch(), *active, add);
  } else {
    tx.query(kList, account, page.before, page.fetch(), add);
  }
  return make_page(std::move(rows), page, [](const ApiKeyRow& row) { return row.id.value; });
}

std::int64_t count_active_api_keys(Tx& tx, AccountId account) {
  return tx.one(kCountActive, account, tx.now(), [](const Row& r) { return r.int64(0); }).value_or(0);
}

void update_api_key(Tx& tx, const ApiKeyRow& row) {
  tx.exec(kUpdate, row.id, row.name, row.active, row.permissions, row.integration_ids, row.rate_limit,
          row.expires_at);
}

void replace_api_key_rate_log(Tx& tx, ApiKeyId id, Blob rate_log) {
  tx.exec(kReplaceLog, id, rate_log);
}
void record_api_key_request(Tx& tx, ApiKeyId id, Blob rate_log) {
  tx.exec(kRecord, id, rate_log, tx.now());
}

void count_api_key_webhook(Tx& tx, ApiKeyId id, std::int64_t requests, std::int64_t deliveries) {
  tx.exec(kCountUse, id, requests, deliveries, tx.now());
}

}  // namespace presetbridge::storage
