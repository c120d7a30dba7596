#include "app/verbs/database_grant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "app/verbs/outcome.h"
#include "storage/postgres/postgres_database.h"
#include "storage/schema/migrations.h"

namespace presetbridge::app {
namespace {

// The problem of the options; empty: none. Never shows a text that may be a password.
std::string problem_of(const DatabaseGrantOptions& options) {
  if (!options.url.starts_with("postgresql://") && !options.url.starts_with("postgres://"))
    return "--database-url must begin with postgresql://";
  if (const auto problem = storage::problem_of_postgres_url(options.url); !problem.empty())
    return "--database-url " + problem;
  if (options.roles.api.empty() && options.roles.worker.empty())
    return "--api-role or --worker-role is needed";
  return {};
}

Expected<std::vector<std::string>> grant(const DatabaseGrantOptions& options) {
  auto database = storage::open_postgres({.url = options.url, .writers = 1, .readers = 1});
  if (!database) return std::unexpected(database.error());
  // Tables that are yet to come would have no rights.
  if (auto fit = storage::check_schema(**database); !fit) return std::unexpected(fit.error());
  return options.print ? storage::node_role_statements(**database, options.roles)
                       : storage::grant_node_roles(**database, options.roles);
}

}  // namespace

int run_database_grant(const DatabaseGrantOptions& options, std::ostream& out, std::ostream& err) {
  if (const auto problem = problem_of(options); !problem.empty()) {
    err << "presetbridge: " << problem << ".\n";
    return kWrongUse;
  }
  try {
    const auto statements = grant(options);
    if (!statements) {
      err << fmt::format("presetbridge: {} ({})\n", statements.error().message, statements.error().code);
      return kFailed;
    }
    for (const auto& statement : *statements) out << statement << '\n';
    if (!options.print && !options.roles.api.empty()) {
      out << fmt::format("-- {} may be used by nodes with --roles api; it cannot read {}.\n",
                         options.roles.api, fmt::join(storage::protected_columns(), " and "));
    }
    if (!options.print && !options.roles.worker.empty())
      out << fmt::format("-- {} may be used by all nodes.\n", options.roles.worker);
    out << std::flush;
    return 0;
  } catch (const storage::DbError& e) {
    // The connection may have been lost at the commit.
    err << (options.print ? fmt::format("presetbridge: The statements could not be made: {}.\n", e.what())
                          : fmt::format("presetbridge: The grant failed, and the rights may or may not have "
                                        "changed: {}. Run it again.\n",
                                        e.what()));
  }
  return kFailed;
}

}  // namespace presetbridge::app
