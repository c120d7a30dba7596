#include "storage/stores/integration_store.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "domain/names.h"
#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 3> kSecretSetByNames = {"", "service", "merchant"};

// The hold for review of a store's orders: all or none.
constexpr std::string_view kHoldAll = "all";
struct Hold {
  static Param parameter(bool all, Texts&) { return all ? kHoldAll : "none"; }
  static void read(const Row& row, int column, bool& all) { all = row.text(column) == kHoldAll; }
};

constexpr std::tuple kColumns{
    Column{"id", &IntegrationRow::id, Update::key},
    Column{"account_id", &IntegrationRow::account, Update::no},
    Column{"name", &IntegrationRow::name},
    Column{"provider", &IntegrationRow::provider, kNamed<domain::parse_provider>, Update::no},
    Column{"version", &IntegrationRow::version, Update::no},
    Column{"encrypted_secret", &IntegrationRow::encrypted_secret},
    Column{"secret_preview", &IntegrationRow::secret_preview},
    Column{"encrypted_previous_secret", &IntegrationRow::encrypted_previous_secret, kEmptyIsNull},
    Column{"previous_secret_expires_at", &IntegrationRow::previous_secret_expires_at},
    Column{"encrypted_older_secret", &IntegrationRow::encrypted_older_secret, kEmptyIsNull},
    Column{"older_secret_expires_at", &IntegrationRow::older_secret_expires_at},
    Column{"secret_set_by", &IntegrationRow::secret_set_by, kNamedOrNull<parse_secret_set_by>},
    Column{"secret_changed_at", &IntegrationRow::secret_changed_at},
    Column{"secret_noted_for", &IntegrationRow::secret_noted_for, kEmptyIsNull},
    Column{"active", &IntegrationRow::active},
    Column{"archived_at", &IntegrationRow::archived_at},
    Column{"owning_key_id", &IntegrationRow::owning_key, kEmptyIsNull},
    Column{"require_api_key", &IntegrationRow::require_api_key},
    Column{"hold", &IntegrationRow::hold_all, Hold{}},
    Column{"deliver_test_orders", &IntegrationRow::deliver_test_orders},
    Column{"auto_revoke", &IntegrationRow::auto_revoke},
    Column{"username_fields", &IntegrationRow::username_fields, kSeparated<'\n'>},
    Column{"created_at", &IntegrationRow::created_at, Update::no},
};
constexpr auto read_integration = read_row<IntegrationRow, kColumns>;

constexpr Sql kInsert = sql<"INSERT INTO integrations ", kInsertion<kColumns>>;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM integrations WHERE id = $1">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM integrations WHERE id = $1 <for_update>">;
constexpr Sql kList = sql<"SELECT ", kSelected<kColumns>,
                          " FROM integrations WHERE account_id = $1 AND id < $2 AND archived_at IS NULL"
                          " ORDER BY id DESC LIMIT $3">;
constexpr Sql kListArchived =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM integrations WHERE account_id = $1 AND id < $2 AND archived_at IS NOT NULL"
        " ORDER BY id DESC LIMIT $3">;
constexpr Sql kCount{"SELECT count(*) FROM integrations WHERE account_id = $1 AND archived_at IS NULL"};
constexpr Sql kUpdate =
    sql<"UPDATE integrations SET ", kAssigned<kColumns>, ", version = version + 1 WHERE ", kKeyed<kColumns>>;
constexpr Sql kVersion{"SELECT version FROM integrations WHERE id = $1"};
constexpr Sql kVersionOfLive{
    "SELECT version, account_id FROM integrations WHERE id = $1 AND archived_at IS NULL"};
constexpr Sql kOrderSettings{"SELECT hold, auto_revoke FROM integrations WHERE id = $1"};
constexpr Sql kMoveOwner{
    "UPDATE integrations SET owning_key_id = $3, version = version + 1 WHERE account_id = $1 AND "
    "owning_key_id "
    "= $2"};
// A transaction that saves mappings holds the lock of their integration.
constexpr Sql kLockAll{"SELECT id FROM integrations WHERE account_id = $1 ORDER BY id <for_update>"};
constexpr Sql kTouchAll{"UPDATE integrations SET version = version + 1 WHERE account_id = $1"};

constexpr std::tuple kMappingColumns{
    Column{"id", [](auto& m) -> auto& { return m.mapping.id; }},
    Column{"match_type", [](auto& m) -> auto& { return m.mapping.type; }, kNamed<domain::parse_match_type>},
    Column{"match_value", &MappingRow::match_value},
    Column{"match_key", [](auto& m) -> auto& { return m.mapping.value; }},
    Column{"action", [](auto& m) -> auto& { return m.mapping.action; }, kNamed<domain::parse_mapping_action>},
    Column{"file_id", [](auto& m) -> auto& { return m.mapping.file_id; }},
    Column{"kind", [](auto& m) -> auto& { return m.mapping.file_kind; }},
    Column{"file_name", [](auto& m) -> auto& { return m.mapping.file_name; }},
    Column{"stale", &MappingRow::stale},
    Column{"made_for", &MappingRow::made_for, kEmptyIsNull},
};
constexpr auto read_mapping = read_row<MappingRow, kMappingColumns>;

// In one statement: between two, another save could come into force, and the rows of this one be deleted.
constexpr Sql kFindMappings =
    sql<"SELECT ", kSelectedOf<kMappingColumns, "mappings">,
        " FROM integrations JOIN mappings ON mappings.integration_id = integrations.id"
        " AND mappings.generation = integrations.mappings_generation WHERE integrations.id = $1">;
constexpr Sql kFindMappingsOfBefore =
    sql<"SELECT ", kSelected<kMappingColumns>, " FROM mappings WHERE integration_id = $1 AND generation = 0">;
// With EXISTS PostgreSQL may read all mappings of all stores. The stored count is right as long as there
// are rows that it counts: an older program deletes them.
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
constexpr std::size_t kMappingWidth = kInsertWidth<kMappingColumns> + 2;
constexpr Sql kInsertMapping = sql<"INSERT INTO mappings (", kInserted<kMappingColumns>,
                                   ", integration_id, generation) VALUES (", kNumbered<kMappingWidth>, ")">;
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

// The generation of mappings that is in force.
struct Generation {
  std::int64_t number = 0;
  CloudAccountId login;   // the account's cloud account; none: there never was one
  bool has_rows = false;  // false: those of generation 0 are in force
};
// Two statements: one that waits for a lock reads everything else as it was before it waited.
Generation lock_generation(Tx& tx, IntegrationId integration) {
  Generation g;
  g.number = tx.one(kLockGeneration, integration, [](const Row& r) { return r.int64(0); }).value_or(0);
  tx.query(kOfGeneration, integration, g.number, [&](const Row& r) {
    g.login = r.id_or_none<CloudAccountId>(0);
    g.has_rows = r.flag(1);
  });
  return g;
}

}  // namespace

std::string_view to_string(SecretSetBy by) {
  return kSecretSetByNames[static_cast<std::size_t>(by)];
}
std::optional<SecretSetBy> parse_secret_set_by(std::string_view text) {
  return domain::parse_name<SecretSetBy>(kSecretSetByNames, text);
}

void insert_integration(Tx& tx, const IntegrationRow& i) {
  Texts texts;
  tx.exec_params(kInsert, insert_params<kColumns>(i, texts));
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
  Texts texts;
  tx.exec_params(kUpdate, update_params<kColumns>(i, texts));
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
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kMappingWidth * rows.size());
  std::vector<MappingRow> written;  // `flat` refers to them
  written.reserve(rows.size());
  for (const auto& row : rows) {
    auto& mapping = written.emplace_back(row);
    mapping.stale = row.stale && row.made_for && row.made_for != save.made_for;
    if (!mapping.stale) mapping.made_for = save.made_for;
    add_insert<kMappingColumns>(flat, mapping, texts);
    flat.insert(flat.end(), {save.integration, save.generation});
  }
  tx.exec_many(kInsertMapping, kMappingWidth, flat);
}

bool use_mappings(Tx& tx, const MappingSave& save, std::int64_t count) {
  const auto current = lock_generation(tx, save.integration);
  const auto staged = tx.one(kCountGeneration, save.integration, save.generation, [](const Row& r) {
                          return r.int64(0);
                        }).value_or(0);
  if (staged != count || current.login != save.made_for) return false;
  // A generation without rows would not be in force: then generation 0 is.
  const std::int64_t next = count == 0 ? 0 : save.generation;
  if (count == 0) tx.exec(kDeleteMappings, save.integration, 0, std::numeric_limits<std::int64_t>::max());
  tx.exec(kSwitchMappings, save.integration, next, count);
  tx.exec(kEndRemains, save.integration, save.generation);
  if (current.number != next) tx.exec(kAddRemains, save.integration, current.number, tx.now());
  // Mappings of generation 0, which an older program may have saved since.
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
  // Locked: they may be of a late save, which could come into force meanwhile.
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
    while (delete_mapping_remains(tx, remains, kMappingBatch) == kMappingBatch) {
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
