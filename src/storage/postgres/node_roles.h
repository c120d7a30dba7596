// The database's roles that nodes connect as (docs/decisions/0016-database-roles.md). Neither may change the
// schema: that is its owner's. One of a node that serves the API cannot read what opens a merchant's user at
// the cloud platform.
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
// by ';'. Not run. Throws DbError; Error VALIDATION_FAILED: a name that is not of letters, digits, '_', '-'
// and '.'.
Expected<std::vector<std::string>> node_role_statements(Database& database, const NodeRoles& roles);

// Runs them in one transaction, and looks what the roles can then do: rights that come another way (a
// superuser, a member of the owner) undo it all. Run again it changes nothing. To be run by the owner of the
// tables, again after each migration. Returns what node_role_statements() does. ROLE_MISSING;
// ROLE_TOO_STRONG; throws DbError, also where it is not the owner who calls.
Expected<std::vector<std::string>> grant_node_roles(Database& database, const NodeRoles& roles);

// What the role of this connection cannot do and a node must: tables without any right to read them, and for
// a `worker` the protected columns. Empty for the owner.
std::vector<std::string> missing_rights(Tx& tx, bool worker);
// Whether the role of this connection can apply migrations.
bool may_migrate(Tx& tx);

}  // namespace presetbridge::storage
