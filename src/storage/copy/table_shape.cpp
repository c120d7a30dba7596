#include "storage/copy/table_shape.h"

#include <algorithm>
#include <map>

namespace presetbridge::storage {
namespace {

// Table, column, type, position in the primary key from 1 (0: not in it).
constexpr Sql kSqliteColumns{
    "SELECT t.name, c.name, c.type, c.pk FROM sqlite_schema t, pragma_table_info(t.name) c"
    " WHERE t.type = 'table' AND substr(t.name, 1, 7) <> 'sqlite_' ORDER BY t.name, c.cid"};
constexpr Sql kPostgresColumns{
    "SELECT CAST(t.relname AS TEXT), CAST(c.attname AS TEXT), format_type(c.atttypid, NULL),"
    " COALESCE(array_position(CAST(k.indkey AS _int2), c.attnum) + 1, 0)"
    " FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped"
    " LEFT JOIN pg_index k ON k.indrelid = t.oid AND k.indisprimary"
    " WHERE t.relkind = 'r' AND t.relnamespace = CAST(current_schema() AS regnamespace)"
    " ORDER BY CAST(t.relname AS TEXT) COLLATE \"C\", c.attnum"};

// Table, and one that it refers to.
constexpr Sql kSqliteReferences{
    "SELECT t.name, f.\"table\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f"
    " WHERE t.type = 'table'"};
constexpr Sql kPostgresReferences{
    "SELECT CAST(t.relname AS TEXT), CAST(o.relname AS TEXT) FROM pg_constraint f"
    " JOIN pg_class t ON t.oid = f.conrelid JOIN pg_class o ON o.oid = f.confrelid"
    " WHERE f.contype = 'f' AND t.relnamespace = CAST(current_schema() AS regnamespace)"};

ColumnType type_of(const std::string& table, const std::string& column, std::string_view type) {
  if (type == "INTEGER" || type == "bigint") return ColumnType::integer;
  if (type == "TEXT" || type == "text") return ColumnType::text;
  if (type == "BLOB" || type == "bytea") return ColumnType::bytes;
  throw DbError(DbError::Kind::misuse,
                "the column " + table + "." + column + " is of an unknown type, " + std::string(type));
}

// Each table after those that it refers to.
std::vector<TableShape> ordered(std::vector<TableShape> tables) {
  std::vector<TableShape> done;
  const auto listed = [&](const std::string& name) {
    return std::ranges::find(done, name, &TableShape::name) != done.end();
  };
  while (!tables.empty()) {
    const auto next = std::ranges::find_if(
        tables, [&](const TableShape& t) { return std::ranges::all_of(t.references, listed); });
    if (next == tables.end()) throw DbError(DbError::Kind::misuse, "foreign keys form a circle");
    done.push_back(std::move(*next));
    tables.erase(next);
  }
  return done;
}

}  // namespace

std::vector<TableShape> read_tables(Tx& tx, std::string_view engine) {
  const bool sqlite = engine == "sqlite";
  std::vector<TableShape> tables;
  std::map<std::string, std::map<std::int64_t, std::size_t>> keys;
  tx.query(sqlite ? kSqliteColumns : kPostgresColumns, [&](const Row& r) {
    if (tables.empty() || tables.back().name != r.text(0)) tables.push_back({.name = r.string(0)});
    auto& table = tables.back();
    if (r.int64(3) > 0) keys[table.name][r.int64(3)] = table.columns.size();
    table.columns.push_back({r.string(1), type_of(table.name, r.string(1), r.text(2))});
  });
  std::map<std::string, std::vector<std::string>> references;
  tx.query(sqlite ? kSqliteReferences : kPostgresReferences, [&](const Row& r) {
    if (r.text(0) != r.text(1)) references[r.string(0)].push_back(r.string(1));
  });
  for (auto& table : tables) {
    for (const auto& [position, column] : keys[table.name]) table.key.push_back(column);
    if (table.key.empty())
      throw DbError(DbError::Kind::misuse, "the table " + table.name + " has no primary key");
    auto& names = table.references = std::move(references[table.name]);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
  }
  return ordered(std::move(tables));
}

}  // namespace presetbridge::storage
