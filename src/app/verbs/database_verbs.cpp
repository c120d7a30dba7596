#include "app/verbs/database_verbs.h"

#include <cstdio>
#include <iostream>
#include <memory>

#include "app/config/data_directory.h"
#include "app/foundation/open_database.h"
#include "app/verbs/copy_verb.h"
#include "app/verbs/database_grant.h"
#include "app/verbs/outcome.h"
#include "storage/schema/migrations.h"

namespace presetbridge::app {
namespace {

int run_migrate(const Config& config) {
  const auto directory = data_directory(config);
  if (config.database_url.empty()) {
    if (auto ready = prepare_data_directory(directory); !ready) return failed(ready.error());
  }
  const auto open = open_database(config, directory);
  if (!open) return failed(open.error());
  const auto applied = storage::migrate(*open->database);
  if (!applied) return failed(applied.error());
  std::printf("%d migration%s applied to %s\n", *applied, *applied == 1 ? "" : "s",
              config.database_url.empty() ? directory.database.c_str() : "the PostgreSQL database");
  return 0;
}

}  // namespace

void add_migrate_verb(CLI::App& app, ConfigFlags& flags, std::function<int()>& run) {
  auto* verb = app.add_subcommand("migrate", "Bring the database's schema up to date");
  flags.add_to(*verb);
  verb->callback([&] {
    run = [&flags] {
      const auto config = flags.load_or_report({"cloud.url", "base_url"});
      return config ? run_migrate(*config) : kWrongUse;
    };
  });
}

void add_copy_verb(CLI::App& app, std::function<int()>& run) {
  auto* verb = app.add_subcommand(
      "copy", "Move a stopped service's SQLite database to PostgreSQL; run it again after an interruption");
  const auto copy = std::make_shared<CopyVerbOptions>();
  verb->add_option("--from", copy->from, "sqlite:PATH of the database file")->required();
  verb->add_option("--to", copy->to, "postgresql://… of an empty database, without password")->required();
  verb->add_option("--data-dir", copy->data_dir,
                   "Folder of the keys that all nodes will have (default: the folder of the database file)");
  verb->add_option("--piece", copy->batch_rows, "Rows of one transaction at most")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  verb->add_flag("--json", copy->json, "One JSON object a line");
  verb->callback([&run, copy] { run = [copy] { return run_copy(*copy, std::cout, std::cerr); }; });
}

void add_database_verbs(CLI::App& app, std::function<int()>& run) {
  auto* database = app.add_subcommand("database", "The PostgreSQL that nodes share");
  database->require_subcommand(1);
  auto* verb = database->add_subcommand("grant",
                                        "Give the database's roles of nodes the rights that they need; run "
                                        "it as the owner, after each migration");
  const auto grant = std::make_shared<DatabaseGrantOptions>();
  verb->add_option("--database-url", grant->url,
                   "postgresql://… as the owner, without password (else PRESETBRIDGE_DATABASE_URL)")
      ->envname("PRESETBRIDGE_DATABASE_URL")
      ->required();
  verb->add_option("--api-role", grant->roles.api,
                   "Role of nodes that only serve the API; it may not read stored logins");
  verb->add_option("--worker-role", grant->roles.worker, "Role of all other nodes");
  verb->add_flag("--print", grant->print, "Print the statements, and run none");
  verb->callback(
      [&run, grant] { run = [grant] { return run_database_grant(*grant, std::cout, std::cerr); }; });
}

}  // namespace presetbridge::app
