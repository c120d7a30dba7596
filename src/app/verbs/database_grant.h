// `presetbridge database grant`: the rights of the roles that nodes connect as
// (storage/postgres/node_roles.h).
#pragma once

#include <iosfwd>
#include <string>

#include "storage/postgres/node_roles.h"

namespace presetbridge::app {

struct DatabaseGrantOptions {
  std::string url;  // postgresql://… as the owner of the tables, without a password
  storage::NodeRoles roles;
  bool print = false;  // the statements, and run none
};

// Prints the statements to `out`, and once they stand what each role is for; problems to `err`. 0: done. 1:
// refused or failed, and nothing was changed. 2: an option is wrong.
int run_database_grant(const DatabaseGrantOptions& options, std::ostream& out, std::ostream& err);

}  // namespace presetbridge::app
