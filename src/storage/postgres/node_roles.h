// The database's roles that nodes connect as (docs/decisions/0016-database-roles.md). None of them may change the
// schema, which only its owner may. The role of a node that serves the API cannot read the secrets of a merchant's
// user at the cloud platform.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct NodeRoles {
  std::string api;     // empty: none is given rights
  std::string worker;  // of workers and dispatchers, and of nodes with all roles; likewise
};

// "table.column", which a role of API nodes cannot read.
std::vector<std::string_view> protected_columns();

// The statements that give these roles their rights, and take all others in the schema from them, each ended
// by ';'. They are not run. VALIDATION_FAILED: a name has other characters than letters, digits, '_', '-' and '.',
// or is longer than 63; or both names are one. Throws DbError.
Expected<std::vector<std::string>> node_role_statements(Database& database, const NodeRoles& roles);

// Runs these statements in one transaction, and then checks what the roles can do: further rights that they have in
// another way (as a superuser, or as a member of the owner) roll it all back. A second run changes nothing. To be
// run by the owner of the tables, again after each migration. Returns the statements. Errors: those of
// node_role_statements(), ROLE_MISSING, ROLE_TOO_STRONG, and ROLE_NOT_OWNER for a caller who does not own the
// tables. Throws DbError.
Expected<std::vector<std::string>> grant_node_roles(Database& database, const NodeRoles& roles);

// The rights that a node must have and the role of this connection has not: names of tables without any right to
// read them, and for a `worker` those of the protected columns. Empty for the owner.
std::vector<std::string> missing_rights(Tx& tx, bool worker);
// Whether the role of this connection can apply migrations.
bool may_migrate(Tx& tx);

}  // namespace presetbridge::storage
