#include "app/verbs/service_verbs.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <variant>

#include "app/verbs/doctor.h"
#include "app/verbs/outcome.h"
#include "app/verbs/serve.h"

namespace presetbridge::app {
namespace {

int run_config_check(const ConfigFlags& flags) {
  auto loaded = flags.load();
  // A wrong value may hold a password.
  for (const auto& setting : settings()) {
    const auto* text = std::get_if<std::string Config::*>(&setting.member);
    if (text &&
        std::ranges::find(loaded.problems, setting.key, &FieldProblem::field) != loaded.problems.end())
      (loaded.config.**text).clear();
  }
  if (loaded.file_read) std::fputs(to_toml(loaded.config).c_str(), stdout);
  report_problems(loaded.problems);
  return loaded.problems.empty() ? 0 : kWrongUse;
}

}  // namespace

void add_serve_verb(CLI::App& app, ConfigFlags& flags, std::function<int()>& run) {
  auto* verb = app.add_subcommand("serve", "Serve, until SIGTERM");
  flags.add_to(*verb);
  const auto replace_lost_database = std::make_shared<bool>(false);
  verb->add_flag("--replace-lost-database", *replace_lost_database,
                 "The database that the keys were used with is lost: begin anew with an empty one");
  verb->callback([&run, &flags, replace_lost_database] {
    run = [&flags, replace_lost_database] {
      const auto config = flags.load_or_report();
      return config ? serve(*config, *replace_lost_database) : kWrongUse;
    };
  });
}

void add_config_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run) {
  auto* config = app.add_subcommand("config", "The configuration");
  config->require_subcommand(1);
  auto* check = config->add_subcommand("check", "Print the effective settings as TOML, and every problem");
  flags.add_to(*check);
  check->callback([&run, &flags] { run = [&flags] { return run_config_check(flags); }; });
}

void add_doctor_verb(CLI::App& app, ConfigFlags& flags, std::function<int()>& run) {
  auto* verb = app.add_subcommand("doctor", "Check everything that a deployment needs, and say what to do");
  flags.add_to(*verb);
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "One JSON object a line");
  verb->callback(
      [&run, &flags, json] { run = [&flags, json] { return run_doctor(flags.load(), *json, std::cout); }; });
}

}  // namespace presetbridge::app
