#include "storage/stores/api_key_store.h"

#include <tuple>

#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"id", &ApiKeyRow::id, Update::key},
    Column{"account_id", &ApiKeyRow::account, Update::no},
    Column{"name", &ApiKeyRow::name},
    Column{"preview", &ApiKeyRow::preview, Update::no},
    Column{"active", &ApiKeyRow::active},
    Column{"permissions", &ApiKeyRow::permissions},
    Column{"integration_ids", &ApiKeyRow::integration_ids},
    Column{"rate_limit", &ApiKeyRow::rate_limit},
    Column{"created_at", &ApiKeyRow::created_at, Update::no},
    Column{"expires_at", &ApiKeyRow::expires_at},
    Column{"last_active_at", &ApiKeyRow::last_active_at, Update::no},
    Column{"rotated_from", &ApiKeyRow::rotated_from, Update::no},
    Column{"requests", &ApiKeyRow::requests, Update::no},
    Column{"deliveries", &ApiKeyRow::deliveries, Update::no},
    Column{"rate_log", &ApiKeyRow::rate_log, Update::no},
};
constexpr auto read_key = read_row<ApiKeyRow, kColumns>;

constexpr std::size_t kInsertedWithHash = kInsertWidth<kColumns> + 1;
constexpr Sql kInsert =
    sql<"INSERT INTO api_keys (", kInserted<kColumns>, ", hash) VALUES (", kNumbered<kInsertedWithHash>, ")">;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM api_keys WHERE id = $1 AND account_id = $2">;
constexpr Sql kLock =
    sql<"SELECT ", kSelected<kColumns>, " FROM api_keys WHERE id = $1 AND account_id = $2 <for_update>">;
constexpr Sql kFindById = sql<"SELECT ", kSelected<kColumns>, " FROM api_keys WHERE id = $1">;
constexpr Sql kFindByHash = sql<"SELECT ", kSelected<kColumns>, " FROM api_keys WHERE hash = $1">;
constexpr Sql kLockByHash =
    sql<"SELECT ", kSelected<kColumns>, " FROM api_keys WHERE hash = $1 <for_update>">;
constexpr Sql kList = sql<"SELECT ", kSelected<kColumns>,
                          " FROM api_keys WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3">;
constexpr Sql kListActive =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM api_keys WHERE account_id = $1 AND id < $2 AND active = $4 ORDER BY id DESC LIMIT $3">;
constexpr Sql kCountActive{
    "SELECT CAST(count(*) AS BIGINT) FROM api_keys"
    " WHERE account_id = $1 AND active = 1 AND (expires_at IS NULL OR expires_at > $2)"};
// A successor is newer than its key.
constexpr Sql kIsRotated{
    "SELECT 1 FROM api_keys WHERE account_id = $1 AND id > $2 AND rotated_from = $2 LIMIT 1"};
constexpr Sql kUpdate = sql<"UPDATE api_keys SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;
constexpr Sql kRecord{
    "UPDATE api_keys SET rate_log = $2, last_active_at = $3, requests = requests + $4 WHERE id = $1"};
constexpr Sql kReplaceLog{"UPDATE api_keys SET rate_log = $2 WHERE id = $1"};
constexpr Sql kCountUse{
    "UPDATE api_keys SET requests = requests + $2, deliveries = deliveries + $3, last_active_at = $4 WHERE "
    "id = $1"};

}  // namespace

void insert_api_key(Tx& tx, const ApiKeyRow& row, Blob hash) {
  std::vector<Param> params;
  Texts texts;
  params.reserve(kInsertedWithHash);
  add_insert<kColumns>(params, row, texts);
  params.emplace_back(hash);
  tx.exec_params(kInsert, params);
}

std::optional<ApiKeyRow> find_api_key(Tx& tx, AccountId account, ApiKeyId id) {
  return tx.one(kFind, id, account, read_key);
}

std::optional<ApiKeyRow> lock_api_key(Tx& tx, AccountId account, ApiKeyId id) {
  return tx.one(kLock, id, account, read_key);
}

std::optional<ApiKeyRow> find_api_key(Tx& tx, ApiKeyId id) {
  return tx.one(kFindById, id, read_key);
}

std::optional<ApiKeyRow> find_api_key_by_hash(Tx& tx, Blob hash) {
  return tx.one(kFindByHash, hash, read_key);
}

std::optional<ApiKeyWithLog> lock_api_key_by_hash(Tx& tx, Blob hash) {
  return tx.one(kLockByHash, hash, [](const Row& r) {
    auto row = read_key(r);
    auto log = row.rate_log;
    return ApiKeyWithLog{std::move(row), std::move(log)};
  });
}

Page<ApiKeyRow> list_api_keys(Tx& tx, AccountId account, const PageRequest& page,
                              std::optional<bool> active) {
  std::vector<ApiKeyRow> rows;
  const auto add = [&](const Row& r) { rows.push_back(read_key(r)); };
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

bool is_rotated(Tx& tx, AccountId account, ApiKeyId id) {
  return tx.one(kIsRotated, account, id, [](const Row&) { return true; }).value_or(false);
}

void update_api_key(Tx& tx, const ApiKeyRow& row) {
  Texts texts;
  tx.exec_params(kUpdate, update_params<kColumns>(row, texts));
}

void replace_api_key_rate_log(Tx& tx, ApiKeyId id, Blob rate_log) {
  tx.exec(kReplaceLog, id, rate_log);
}
void record_api_key_requests(Tx& tx, ApiKeyId id, std::int64_t requests, Blob rate_log) {
  tx.exec(kRecord, id, rate_log, tx.now(), requests);
}

void count_api_key_webhook(Tx& tx, ApiKeyId id, std::int64_t requests, std::int64_t deliveries) {
  tx.exec(kCountUse, id, requests, deliveries, tx.now());
}

}  // namespace presetbridge::storage
