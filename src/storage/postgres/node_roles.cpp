#include "storage/postgres/node_roles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"

namespace presetbridge::storage {
namespace {

struct ProtectedColumn {
  std::string_view table;
  std::string_view column;
  std::string_view name;
};
// The secrets of a merchant's user at the cloud platform.
constexpr std::array<ProtectedColumn, 2> kProtected{
    {{"credentials", "sealed", "credentials.sealed"},
     {"cloud_sessions", "encrypted_session", "cloud_sessions.encrypted_session"}}};
// The table of the schema's history, which only its owner writes.
constexpr std::string_view kMigrations = "schema_migrations";

constexpr Sql kSchema{"SELECT CAST(current_schema() AS TEXT), CAST(current_database() AS TEXT)"};
constexpr Sql kTables{
    "SELECT CAST(t.relname AS TEXT) FROM pg_class t WHERE t.relkind = 'r' AND t.relnamespace ="
    " CAST(current_schema() AS regnamespace) ORDER BY CAST(t.relname AS TEXT) COLLATE \"C\""};
constexpr Sql kColumns{
    "SELECT CAST(c.attname AS TEXT) FROM pg_attribute c JOIN pg_class t ON t.oid = c.attrelid"
    " WHERE CAST(t.relname AS TEXT) = $1 AND t.relnamespace = CAST(current_schema() AS regnamespace)"
    " AND c.attnum > 0 AND NOT c.attisdropped ORDER BY c.attnum"};
constexpr Sql kRole{"SELECT 1 FROM pg_roles WHERE CAST(rolname AS TEXT) = $1"};
// The role, or one that it can become.
constexpr Sql kCanRead{
    "SELECT 1 FROM pg_roles r JOIN pg_roles g ON pg_has_role(r.rolname, g.rolname, 'MEMBER')"
    " WHERE CAST(r.rolname AS TEXT) = $1 AND"
    " has_column_privilege(g.rolname, CAST($2 AS TEXT), CAST($3 AS TEXT), 'SELECT')"};
constexpr Sql kCanMakeTables{
    "SELECT 1 FROM pg_roles r JOIN pg_roles g ON pg_has_role(r.rolname, g.rolname, 'MEMBER')"
    " WHERE CAST(r.rolname AS TEXT) = $1 AND has_schema_privilege(g.rolname, current_schema(), 'CREATE')"};
constexpr Sql kOwns{
    "SELECT 1 FROM pg_roles r JOIN pg_class t ON pg_has_role(r.rolname, t.relowner, 'MEMBER')"
    " WHERE CAST(r.rolname AS TEXT) = $1 AND t.relkind = 'r' AND"
    " t.relnamespace = CAST(current_schema() AS regnamespace)"};
constexpr Sql kUnreadable{
    "SELECT CAST(t.relname AS TEXT), CAST(c.attname AS TEXT) FROM pg_class t JOIN pg_attribute c ON "
    "c.attrelid ="
    " t.oid WHERE t.relkind = 'r' AND t.relnamespace = CAST(current_schema() AS regnamespace) AND c.attnum > "
    "0"
    " AND NOT c.attisdropped AND NOT has_column_privilege(t.oid, c.attnum, 'SELECT')"
    " ORDER BY CAST(t.relname AS TEXT) COLLATE \"C\", c.attnum"};
constexpr Sql kAnothers{
    "SELECT 1 FROM pg_class t WHERE t.relkind = 'r' AND t.relnamespace ="
    " CAST(current_schema() AS regnamespace) AND NOT pg_has_role(t.relowner, 'USAGE') LIMIT 1"};
constexpr Sql kMayMakeTables{"SELECT 1 WHERE has_schema_privilege(current_schema(), 'CREATE')"};

bool found(const Row&) {
  return true;
}

std::string quoted(std::string_view name) {
  return fmt::format("\"{}\"", name);
}

bool is_name(std::string_view name) {
  constexpr std::size_t kLongest = 63;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  });
}

std::optional<std::string_view> protected_column_of(std::string_view table) {
  const auto* const one = std::ranges::find(kProtected, table, &ProtectedColumn::table);
  return one == kProtected.end() ? std::nullopt : std::optional(one->column);
}

// The rights that a role is given.
class Grants {
 public:
  Grants(Tx& tx, std::string_view role, bool api) : tx_(tx), role_(quoted(role)), api_(api) {}

  void add_to(std::vector<std::string>& statements) {
    std::string schema;
    std::string database;
    tx_.query(kSchema, [&](const Row& r) {
      schema = quoted(r.string(0));
      database = quoted(r.string(1));
    });
    const auto add = [&](std::string text) { statements.push_back(std::move(text)); };
    // All rights that it had, those on columns too.
    add(fmt::format("REVOKE ALL ON ALL TABLES IN SCHEMA {} FROM {};", schema, role_));
    add(fmt::format("REVOKE ALL ON SCHEMA {} FROM {};", schema, role_));
    add(fmt::format("GRANT CONNECT ON DATABASE {} TO {};", database, role_));
    add(fmt::format("GRANT USAGE ON SCHEMA {} TO {};", schema, role_));
    std::vector<std::string> tables;
    tx_.query(kTables, [&](const Row& r) { tables.push_back(r.string(0)); });
    for (const auto& table : tables)
      add(fmt::format("GRANT {} ON {} TO {};", rights_on(table), quoted(table), role_));
  }

 private:
  std::string rights_on(const std::string& table) {
    if (table == kMigrations) return "SELECT";
    const auto hidden = api_ ? protected_column_of(table) : std::nullopt;
    if (!hidden) return "SELECT, INSERT, UPDATE, DELETE";
    std::vector<std::string> columns;
    tx_.query(kColumns, table, [&](const Row& r) {
      if (r.text(0) != *hidden) columns.push_back(quoted(r.text(0)));
    });
    return fmt::format("SELECT ({}), INSERT, UPDATE, DELETE", fmt::join(columns, ", "));
  }

  Tx& tx_;
  const std::string role_;
  const bool api_;
};

std::vector<std::string> statements_of(Tx& tx, const NodeRoles& roles) {
  std::vector<std::string> statements;
  if (!roles.api.empty()) Grants(tx, roles.api, true).add_to(statements);
  if (!roles.worker.empty()) Grants(tx, roles.worker, false).add_to(statements);
  return statements;
}

Expected<void> check_names(const NodeRoles& roles) {
  for (const auto& name : {roles.api, roles.worker}) {
    if (!name.empty() && !is_name(name))
      return fail("VALIDATION_FAILED",
                  "The name of a role may have letters, digits, '_', '-' and '.', 63 at most.");
  }
  if (!roles.api.empty() && roles.api == roles.worker)
    return fail("VALIDATION_FAILED", "The two roles must be different ones.");
  return {};
}

// A right that the role has beyond those that it was given, and why that may be; empty: none.
std::string excess_of(Tx& tx, const std::string& role, bool api) {
  if (tx.one(kOwns, role, found))
    return "change the schema: it is, or can become, the owner of its tables or a superuser";
  if (tx.one(kCanMakeTables, role, found)) {
    return "make tables: take that from everybody with REVOKE CREATE ON SCHEMA … FROM PUBLIC, or from the "
           "roles that it is a member of";
  }
  for (const auto& one : kProtected) {
    if (api && tx.one(kCanRead, role, one.table, one.column, found))
      return fmt::format("read {}: everybody may, or a role that it is a member of", one.name);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> protected_columns() {
  std::vector<std::string_view> names;
  for (const auto& one : kProtected) names.push_back(one.name);
  return names;
}

Expected<std::vector<std::string>> node_role_statements(Database& database, const NodeRoles& roles) {
  if (auto named = check_names(roles); !named) return std::unexpected(named.error());
  std::vector<std::string> statements;
  database.read([&](Tx& tx) { statements = statements_of(tx, roles); });
  return statements;
}

Expected<std::vector<std::string>> grant_node_roles(Database& database, const NodeRoles& roles) try {
  if (auto named = check_names(roles); !named) return std::unexpected(named.error());
  std::vector<std::string> statements;
  database.write([&](Tx& tx) {
    tx.lock_schema();
    // PostgreSQL only warns where a caller who is not the owner gives rights.
    if (tx.one(kAnothers, found))
      throw Error{
          "ROLE_NOT_OWNER", "Rights on the tables are their owner's to give: connect as that one.", {}};
    for (const auto& role : {roles.api, roles.worker}) {
      if (role.empty() || tx.one(kRole, role, found)) continue;
      throw Error{
          "ROLE_MISSING",
          fmt::format("The database has no role {}: make it first, as with `createuser {}`.", role, role),
          {}};
    }
    statements = statements_of(tx, roles);
    for (const auto& statement : statements) tx.exec_script(statement);
    for (const auto& [role, api] : {std::pair{roles.api, true}, std::pair{roles.worker, false}}) {
      const auto excess = role.empty() ? std::string() : excess_of(tx, role, api);
      if (excess.empty()) continue;
      throw Error{"ROLE_TOO_STRONG",
                  fmt::format("Nothing was changed, since the role {} could still {}.", role, excess),
                  {}};
    }
  });
  return statements;
} catch (const Error& error) {
  return std::unexpected(error);
}

std::vector<std::string> missing_rights(Tx& tx, bool worker) {
  std::vector<std::string> missing;
  tx.query(kUnreadable, [&](const Row& r) {
    const auto listed = [&](std::string_view name) {
      return std::ranges::find(missing, name) != missing.end();
    };
    const auto* const secret = std::ranges::find_if(
        kProtected, [&](const auto& one) { return one.table == r.text(0) && one.column == r.text(1); });
    if (secret == kProtected.end()) {
      if (!listed(r.text(0))) missing.push_back(r.string(0));
    } else if (worker && !listed(r.text(0))) {
      missing.emplace_back(secret->name);
    }
  });
  return missing;
}

bool may_migrate(Tx& tx) {
  return tx.one(kMayMakeTables, found) && !tx.one(kAnothers, found);
}

}  // namespace presetbridge::storage
