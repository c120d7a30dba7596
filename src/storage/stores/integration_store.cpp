#include "storage/stores/integration_store.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/split.h"

namespace presetbridge::storage {
namespace {

constexpr const char* kHoldAll = "all";

#define PDB_INTEGRATION_COLUMNS                                                                            \
  "id, account_id, name, provider, version, encrypted_secret, secret_preview, encrypted_previous_secret, " \
  "previous_secret_expires_at, active, archived_at, owning_key_id, require_api_key, hold, "                \
  "deliver_test_orders, "                                                                                  \
  "auto_revoke, username_fields, created_at"
constexpr Sql kInsert{
    "INSERT INTO integrations (" PDB_INTEGRATION_COLUMNS
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"};
constexpr Sql kFind{"SELECT " PDB_INTEGRATION_COLUMNS " FROM integrations WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_INTEGRATION_COLUMNS " FROM integrations WHERE id = $1 <for_update>"};
constexpr Sql kList{"SELECT " PDB_INTEGRATION_COLUMNS
                    " FROM integrations WHERE account_id = $1 AND id < $2 AND archived_at IS NULL"
                    " ORDER BY id DESC LIMIT $3"};
constexpr Sql kListArchived{"SELECT " PDB_INTEGRATION_COLUMNS
                            " FROM integrations WHERE account_id = $1 AND id < $2 AND archived_at IS NOT NULL"
                            " ORDER BY id DESC LIMIT $3"};
constexpr Sql kCount{"SELECT count(*) FROM integrations WHERE account_id = $1 AND archived_at IS NULL"};
constexpr Sql kUpdate{
    "UPDATE integrations SET name = $2, version = version + 1, encrypted_secret = $3, secret_preview = $4, "
    "encrypted_previous_secret = $5, previous_secret_expires_at = $6, active = $7, archived_at = $8, "
    "owning_key_id = $9, require_api_key = $10, hold = $11, deliver_test_orders = $12, auto_revoke = $13, "
    "username_fields = $14 WHERE id = $1"};
constexpr Sql kVersion{"SELECT version FROM integrations WHERE id = $1"};
constexpr Sql kVersionOfLive{
    "SELECT version, account_id FROM integrations WHERE id = $1 AND archived_at IS NULL"};
constexpr Sql kOrderSettings{"SELECT hold, auto_revoke FROM integrations WHERE id = $1"};
constexpr Sql kMoveOwner{
    "UPDATE integrations SET owning_key_id = $3, version = version + 1 WHERE account_id = $1 AND "
    "owning_key_id "
    "= $2"};
// Whoever saves mappings holds their integration.
constexpr Sql kLockAll{"SELECT id FROM integrations WHERE account_id = $1 ORDER BY id <for_update>"};
constexpr Sql kTouchAll{"UPDATE integrations SET version = version + 1 WHERE account_id = $1"};

#define PDB_MAPPING_COLUMNS                                                                       \
  "mappings.id, mappings.match_type, mappings.match_value, mappings.match_key, mappings.action, " \
  "mappings.file_id, mappings.kind, mappings.file_name, mappings.stale"
// In one statement: between two of them another save could come to count, and this one's rows go.
constexpr Sql kFindMappings{
    "SELECT " PDB_MAPPING_COLUMNS
    " FROM integrations JOIN mappings ON mappings.integration_id = integrations.id"
    " AND mappings.generation = integrations.mappings_generation WHERE integrations.id = $1"};
constexpr Sql kFindMappingsOfBefore{"SELECT " PDB_MAPPING_COLUMNS
                                    " FROM mappings WHERE integration_id = $1 AND generation = 0"};
// With EXISTS PostgreSQL may read all mappings there are, once, for every row that it is asked of.
// The stored count holds as long as there are rows that it counts: a program of before deletes them.
constexpr Sql kCountMappings{
    "SELECT CASE WHEN mappings_generation <> 0 AND (SELECT 1 FROM mappings"
    " WHERE mappings.integration_id = integrations.id"
    " AND mappings.generation = integrations.mappings_generation LIMIT 1) IS NOT NULL THEN mapping_count"
    " ELSE (SELECT count(*) FROM mappings WHERE mappings.integration_id = integrations.id"
    " AND mappings.generation = 0) END FROM integrations WHERE id = $1"};
constexpr Sql kNextGeneration{
    "UPDATE integrations SET newest_generation = newest_generation + 1 WHERE id = $1"
    " RETURNING newest_generation"};
constexpr Sql kLockGeneration{"SELECT mappings_generation FROM integrations WHERE id = $1 <for_update>"};
constexpr Sql kOfGeneration{
    "SELECT accounts.cloud_account_id, CASE WHEN (SELECT 1 FROM mappings"
    " WHERE mappings.integration_id = $1 AND mappings.generation = $2 LIMIT 1) IS NOT NULL THEN 1 ELSE 0 END"
    " FROM integrations JOIN accounts ON accounts.id = integrations.account_id WHERE integrations.id = $1"};
constexpr Sql kCountGeneration{"SELECT count(*) FROM mappings WHERE integration_id = $1 AND generation = $2"};
constexpr Sql kSwitchMappings{
    "UPDATE integrations SET mappings_generation = $2, mapping_count = $3, version = version + 1 WHERE id = "
    "$1"};
constexpr Sql kInsertMapping{
    "INSERT INTO mappings (id, integration_id, match_type, match_value, match_key, action, file_id, kind, "
    "file_name, stale, made_for, generation)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"};
constexpr Sql kDeleteMappings{
    "DELETE FROM mappings WHERE integration_id = $1 AND generation = $2 AND id IN"
    " (SELECT id FROM mappings WHERE integration_id = $1 AND generation = $2 ORDER BY id LIMIT $3)"};
constexpr Sql kAddRemains{
    "INSERT INTO mapping_remains (integration_id, generation, due_at) VALUES ($1, $2, $3)"
    " ON CONFLICT (integration_id, generation) DO UPDATE SET due_at = excluded.due_at"};
constexpr Sql kEndRemains{"DELETE FROM mapping_remains WHERE integration_id = $1 AND generation = $2"};
constexpr Sql kFindRemains{
    "SELECT integration_id, generation FROM mapping_remains WHERE due_at <= $1"
    " ORDER BY integration_id, generation LIMIT $2"};
constexpr Sql kFindRemainsOf{
    "SELECT integration_id, generation FROM mapping_remains WHERE integration_id = $1 AND due_at <= $2"
    " ORDER BY generation"};
constexpr Sql kAdopt{
    "UPDATE mappings SET made_for = $2 WHERE made_for IS NULL"
    " AND integration_id IN (SELECT id FROM integrations WHERE account_id = $1)"};
constexpr Sql kStale{
    "UPDATE mappings SET stale = 1 WHERE stale = 0 AND made_for <> $2"
    " AND integration_id IN (SELECT id FROM integrations WHERE account_id = $1)"};
constexpr Sql kLiftStale{
    "UPDATE mappings SET stale = 0 WHERE stale = 1 AND made_for = $2"
    " AND integration_id IN (SELECT id FROM integrations WHERE account_id = $1)"};

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text.append(text.empty() ? "" : "\n").append(line);
  return text;
}

std::vector<std::byte> bytes_or_empty(const Row& r, int column) {
  if (r.is_null(column)) return {};
  const Blob b = r.bytes(column);
  return {b.begin(), b.end()};
}
Param bytes_or_null(const std::vector<std::byte>& b) {
  return b.empty() ? Param(nullptr) : Param(Blob(b));
}

// Which mappings of an integration count.
struct Generation {
  std::int64_t number = 0;
  CloudAccountId login;   // the account's cloud user, none: there never was one
  bool has_rows = false;  // else those of generation 0 count
};
// Two statements: one that waits for a lock sees the rest as it was before it waited.
Generation lock_generation(Tx& tx, IntegrationId integration) {
  Generation g;
  g.number = tx.one(kLockGeneration, integration, [](const Row& r) { return r.int64(0); }).value_or(0);
  tx.query(kOfGeneration, integration, g.number, [&](const Row& r) {
    g.login = r.id_or_none<CloudAccountId>(0);
    g.has_rows = r.flag(1);
  });
  return g;
}

MappingRow read_mapping(const Row& r) {
  const auto type = domain::parse_match_type(r.text(1));
  const auto action = domain::parse_mapping_action(r.text(4));
  if (!type || !action) throw DbError(DbError::Kind::misuse, "unknown match type or action of a mapping");
  return {{r.id<MappingId>(0), *type, r.string(3), *action, r.string(5), r.string(6), r.string(7)},
          r.string(2),
          r.flag(8)};
}

IntegrationRow read_integration(const Row& r) {
  IntegrationRow i;
  i.id = r.id<IntegrationId>(0);
  i.account = r.id<AccountId>(1);
  i.name = r.string(2);
  const auto provider = domain::parse_provider(r.text(3));
  if (!provider) throw DbError(DbError::Kind::misuse, "unknown provider " + r.string(3));
  i.provider = *provider;
  i.version = r.int64(4);
  i.encrypted_secret = bytes_or_empty(r, 5);
  i.secret_preview = r.string(6);
  i.encrypted_previous_secret = bytes_or_empty(r, 7);
  i.previous_secret_expires_at = r.opt_time(8);
  i.active = r.flag(9);
  i.archived_at = r.opt_time(10);
  i.owning_key = r.id_or_none<ApiKeyId>(11);
  i.require_api_key = r.flag(12);
  i.hold_all = r.text(13) == kHoldAll;
  i.deliver_test_orders = r.flag(14);
  i.auto_revoke = r.flag(15);
  i.username_fields = split(r.text(16), '\n');
  i.created_at = r.time(17);
  return i;
}

}  // namespace

void insert_integration(Tx& tx, const IntegrationRow& i) {
  tx.exec(kInsert, i.id, i.account, i.name, to_string(i.provider), i.version, Blob(i.encrypted_secret),
          i.secret_preview, bytes_or_null(i.encrypted_previous_secret), i.previous_secret_expires_at,
          i.active, i.archived_at, i.owning_key ? Param(i.owning_key) : Param(nullptr), i.require_api_key,
          i.hold_all ? kHoldAll : "none", i.deliver_test_orders, i.auto_revoke, join_lines(i.username_fields),
          i.created_at);
}
std::optional<IntegrationRow> find_integration(Tx& tx, IntegrationId id) {
  return tx.one(kFind, id, read_integration);
}
std::optional<IntegrationRow> lock_integration(Tx& tx, IntegrationId id) {
  return tx.one(kLock, id, read_integration);
}

std::vector<IntegrationRow> list_integrations(Tx& tx, AccountId account, IntegrationId before, int limit) {
  std::vector<IntegrationRow> rows;
  const std::int64_t from = before ? before.value : std::numeric_limits<std::int64_t>::max();
  tx.query(kList, account, from, limit, [&](const Row& r) { rows.push_back(read_integration(r)); });
  return rows;
}
std::vector<IntegrationRow> list_archived_integrations(Tx& tx, AccountId account, IntegrationId before,
                                                       int limit) {
  std::vector<IntegrationRow> rows;
  const std::int64_t from = before ? before.value : std::numeric_limits<std::int64_t>::max();
  tx.query(kListArchived, account, from, limit, [&](const Row& r) { rows.push_back(read_integration(r)); });
  return rows;
}
std::int64_t count_integrations(Tx& tx, AccountId account) {
  return tx.one(kCount, account, [](const Row& r) { return r.int64(0); }).value_or(0);
}

void update_integration(Tx& tx, IntegrationRow& i) {
  tx.exec(kUpdate, i.id, i.name, Blob(i.encrypted_secret), i.secret_preview,
          bytes_or_null(i.encrypted_previous_secret), i.previous_secret_expires_at, i.active, i.archived_at,
          i.owning_key ? Param(i.owning_key) : Param(nullptr), i.require_api_key,
          i.hold_all ? kHoldAll : "none", i.deliver_test_orders, i.auto_revoke,
          join_lines(i.username_fields));
  ++i.version;
}
std::vector<std::int64_t> integration_versions(Tx& tx, std::span<const IntegrationId> ids) {
  std::vector<std::int64_t> versions(ids.size());
  tx.query_each(kVersion, 1, params_of(ids), [&](std::size_t n, const Row& r) { versions[n] = r.int64(0); });
  return versions;
}
std::vector<IntegrationVersion> find_integration_versions(Tx& tx, std::span<const IntegrationId> ids) {
  std::vector<IntegrationVersion> versions(ids.size());
  tx.query_each(kVersionOfLive, 1, params_of(ids),
                [&](std::size_t n, const Row& r) { versions[n] = {r.int64(0), r.id<AccountId>(1)}; });
  return versions;
}

std::vector<OrderSettings> find_order_settings(Tx& tx, std::span<const IntegrationId> ids) {
  std::vector<OrderSettings> settings(ids.size());
  tx.query_each(kOrderSettings, 1, params_of(ids),
                [&](std::size_t n, const Row& r) { settings[n] = {r.text(0) == kHoldAll, r.flag(1)}; });
  return settings;
}

void replace_owning_key(Tx& tx, AccountId account, ApiKeyId old_key, ApiKeyId new_key) {
  tx.exec(kMoveOwner, account, old_key, new_key);
}

std::vector<MappingRow> find_mappings(Tx& tx, IntegrationId integration) {
  std::vector<MappingRow> rows;
  const auto add = [&](const Row& r) { rows.push_back(read_mapping(r)); };
  tx.query(kFindMappings, integration, add);
  if (rows.empty()) tx.query(kFindMappingsOfBefore, integration, add);
  std::ranges::sort(rows, {}, [](const MappingRow& m) { return m.mapping.id; });
  return rows;
}

std::vector<std::int64_t> count_mappings(Tx& tx, std::span<const IntegrationId> integrations) {
  std::vector<std::int64_t> counts(integrations.size());
  tx.query_each(kCountMappings, 1, params_of(integrations),
                [&](std::size_t n, const Row& r) { counts[n] = r.int64(0); });
  return counts;
}

MappingSave begin_mappings(Tx& tx, IntegrationId integration, Timestamp give_up_at) {
  MappingSave save{.integration = integration};
  save.generation = tx.one(kNextGeneration, integration, [](const Row& r) { return r.int64(0); }).value();
  save.made_for = lock_generation(tx, integration).login;
  tx.exec(kAddRemains, integration, save.generation, give_up_at);
  return save;
}

void stage_mappings(Tx& tx, const MappingSave& save, std::span<const MappingRow> rows) {
  const Param made_for = save.made_for ? Param(save.made_for) : Param(nullptr);
  std::vector<Param> flat;
  flat.reserve(12 * rows.size());
  for (const auto& [m, written, stale] : rows) {
    flat.insert(flat.end(), {m.id, save.integration, domain::to_string(m.type), written, m.value,
                             domain::to_string(m.action), m.file_id, m.file_kind, m.file_name, stale,
                             made_for, save.generation});
  }
  tx.exec_many(kInsertMapping, 12, flat);
}

bool use_mappings(Tx& tx, const MappingSave& save, std::int64_t count) {
  const auto current = lock_generation(tx, save.integration);
  const auto staged = tx.one(kCountGeneration, save.integration, save.generation, [](const Row& r) {
                          return r.int64(0);
                        }).value_or(0);
  if (staged != count || current.login != save.made_for) return false;
  // None of this generation would be read as none that counts.
  const std::int64_t next = count == 0 ? 0 : save.generation;
  if (count == 0) tx.exec(kDeleteMappings, save.integration, 0, std::numeric_limits<std::int64_t>::max());
  tx.exec(kSwitchMappings, save.integration, next, count);
  tx.exec(kEndRemains, save.integration, save.generation);
  if (current.number != next) tx.exec(kAddRemains, save.integration, current.number, tx.now());
  // Those that a program of before has saved since.
  if (current.number != 0 && next != 0) tx.exec(kAddRemains, save.integration, 0, tx.now());
  return true;
}

void give_up_mappings(Tx& tx, const MappingSave& save) {
  tx.exec(kAddRemains, save.integration, save.generation, tx.now());
}

std::vector<MappingRemains> find_mapping_remains(Tx& tx, int limit) {
  std::vector<MappingRemains> remains;
  tx.query(kFindRemains, tx.now(), limit,
           [&](const Row& r) { remains.push_back({r.id<IntegrationId>(0), r.int64(1)}); });
  return remains;
}
std::vector<MappingRemains> find_mapping_remains(Tx& tx, IntegrationId integration) {
  std::vector<MappingRemains> remains;
  tx.query(kFindRemainsOf, integration, tx.now(),
           [&](const Row& r) { remains.push_back({r.id<IntegrationId>(0), r.int64(1)}); });
  return remains;
}

std::int64_t delete_mapping_remains(Tx& tx, const MappingRemains& of, int limit) {
  // Locked: the save that they may be of, late as it is, could come to count meanwhile.
  const auto current = lock_generation(tx, of.integration);
  const bool counts = of.generation == (current.has_rows ? current.number : 0);
  std::int64_t deleted = 0;
  if (!counts) deleted = tx.exec(kDeleteMappings, of.integration, of.generation, limit);
  if (deleted < limit) tx.exec(kEndRemains, of.integration, of.generation);
  return deleted;
}

void replace_mappings(Tx& tx, IntegrationId integration, const std::vector<MappingRow>& rows) {
  const auto save = begin_mappings(tx, integration, tx.now());
  stage_mappings(tx, save, rows);
  if (!use_mappings(tx, save, std::ssize(rows)))
    throw DbError(DbError::Kind::conflict, "mappings changed under the lock of their integration");
  for (const auto& remains : find_mapping_remains(tx, integration)) {
    while (delete_mapping_remains(tx, remains, kMappingPiece) == kMappingPiece) {
    }
  }
}

MappingsOfLogin match_mappings_to_login(Tx& tx, AccountId account, CloudAccountId cloud_account) {
  tx.query(kLockAll, account, [](const Row&) {});
  tx.exec(kAdopt, account, cloud_account);
  MappingsOfLogin changed;
  changed.made_stale = tx.exec(kStale, account, cloud_account);
  changed.lifted = tx.exec(kLiftStale, account, cloud_account);
  if (changed.made_stale > 0 || changed.lifted > 0) tx.exec(kTouchAll, account);
  return changed;
}

}  // namespace presetbridge::storage
