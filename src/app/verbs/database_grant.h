// Runs `presetbridge database grant`, which gives the roles that nodes connect as their rights
// (storage/postgres/node_roles.h).
#pragma once

#include <iosfwd>
#include <string>

#include "storage/postgres/node_roles.h"

namespace presetbridge::app {

struct DatabaseGrantOptions {
  std::string url;  // postgresql://… as the owner of the tables, without a password
  storage::NodeRoles roles;
  bool print = false;  // print the statements and run none
};

// Prints the statements to `out` and, after they were committed, the purpose of each role; prints problems to
// `err`. Returns 0: done. 1: refused or failed; nothing was changed, unless the connection was lost at the
// commit. 2: an option is wrong.
int run_database_grant(const DatabaseGrantOptions& options, std::ostream& out, std::ostream& err);

}  // namespace presetbridge::app
