#include "app/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "app/data_directory.h"
#include "app/serve.h"
#include "app/version.h"
#include "cloud/credential_agent.h"
#include "crypto/random.h"
#include "net/runtime.h"
#include "storage/migrations.h"
#include "storage/sqlite/sqlite_database.h"

namespace presetbridge::app {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr int kAgentDescriptor = 3;

int failed(const Error& error) {
  std::fprintf(stderr, "presetbridge: %s\n", error.message.c_str());
  return kFailed;
}

// The flags of every setting, of a verb that uses them.
class ConfigFlags {
 public:
  void add_to(CLI::App& verb) {
    verb.add_option("--config", file_, "TOML file of settings (else PRESETBRIDGE_CONFIG)");
    for (const auto& setting : settings()) {
      const auto take = [this, key = std::string(setting.key)](const std::string& value) {
        flags_.emplace_back(key, value);
      };
      const std::string name = "--" + flag_name(setting);
      if (std::holds_alternative<bool Config::*>(setting.member)) {
        verb.add_flag_function(
                name + "{true}",
                [this, key = std::string(setting.key)](std::int64_t) { flags_.emplace_back(key, "true"); },
                std::string(setting.help))
            ->group("Settings");
      } else {
        verb.add_option_function<std::string>(name, take, std::string(setting.help))->group("Settings");
      }
    }
  }
  LoadedConfig load() const {
    ConfigSources sources;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text(*variable);
      const auto equals = text.find('=');
      if (equals == std::string_view::npos) continue;
      sources.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      if (text.substr(0, equals) == "PRESETBRIDGE_CONFIG") sources.file = text.substr(equals + 1);
    }
    if (!file_.empty()) sources.file = file_;
    sources.flags = flags_;
    return load_config(sources);
  }
  // Nothing after all problems were told. `needs_cloud`: whether the verb talks to the cloud platform.
  std::optional<Config> load_or_tell(bool needs_cloud) const {
    auto loaded = load();
    std::erase_if(loaded.problems,
                  [&](const FieldProblem& p) { return !needs_cloud && p.field == "cloud.url"; });
    for (const auto& [field, problem] : loaded.problems)
      std::fprintf(stderr, "presetbridge: %s %s\n", field.c_str(), problem.c_str());
    if (!loaded.problems.empty()) return std::nullopt;
    return std::move(loaded.config);
  }

 private:
  std::string file_;
  std::vector<std::pair<std::string, std::string>> flags_;
};

int run_migrate(const Config& config) {
  const auto directory = data_directory(config);
  if (auto ready = prepare_data_directory(directory); !ready) return failed(ready.error());
  const net::SystemClock clock;
  auto database = storage::open_sqlite({.path = directory.database.string()}, clock);
  if (!database) return failed(database.error());
  const auto applied = storage::migrate(**database);
  if (!applied) return failed(applied.error());
  std::printf("%d migration%s applied to %s\n", *applied, *applied == 1 ? "" : "s",
              directory.database.c_str());
  return 0;
}

int run_vault_init(const Config& config) {
  const auto directory = data_directory(config);
  if (auto ready = prepare_data_directory(directory); !ready) return failed(ready.error());
  crypto::SystemRandom random;
  const auto made = create_missing_keys(directory, random);
  if (!made) return failed(made.error());
  std::printf("%s in %s\n", *made == 0 ? "all key files are there already" : "key files were made",
              directory.folder.c_str());
  return 0;
}

int run_config_check(const ConfigFlags& flags) {
  const auto loaded = flags.load();
  std::fputs(to_toml(loaded.config).c_str(), stdout);
  for (const auto& [field, problem] : loaded.problems)
    std::fprintf(stderr, "presetbridge: %s %s\n", field.c_str(), problem.c_str());
  return loaded.problems.empty() ? 0 : kWrongUse;
}

// The hidden verb: what AgentProcess starts. Not parsed by CLI11, whose help nobody needs here.
int run_agent(int argc, char** argv) {
  const auto options = cloud::parse_agent_arguments(std::vector<std::string>(argv + 2, argv + argc));
  if (!options) return failed(options.error());
  return cloud::run_credential_agent(kAgentDescriptor, *options);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  if (argc >= 2 && std::string_view(argv[1]) == "credential-agent") return run_agent(argc, argv);

  CLI::App app{"Preset Delivery Bridge: from a store's order to a file shared on the cloud platform."};
  app.set_version_flag("--version",
                       "presetbridge " + std::string(kVersion) + " (" + std::string(kCommit) + ")");
  app.require_subcommand(1);
  ConfigFlags flags;
  std::function<int()> run;

  const auto with_config = [&](CLI::App* verb, bool needs_cloud, int (*function)(const Config&)) {
    flags.add_to(*verb);
    verb->callback([&run, &flags, needs_cloud, function] {
      run = [&flags, needs_cloud, function] {
        const auto config = flags.load_or_tell(needs_cloud);
        return config ? function(*config) : kWrongUse;
      };
    });
  };
  with_config(app.add_subcommand("serve", "Serve, until SIGTERM"), true, serve);
  with_config(app.add_subcommand("migrate", "Bring the database's schema up to date"), false, run_migrate);

  auto* config_verb = app.add_subcommand("config", "The configuration");
  config_verb->require_subcommand(1);
  auto* check =
      config_verb->add_subcommand("check", "Print the effective settings as TOML, and every problem");
  flags.add_to(*check);
  check->callback([&run, &flags] { run = [&flags] { return run_config_check(flags); }; });

  auto* vault = app.add_subcommand("vault", "The keys of the credentials vault");
  vault->require_subcommand(1);
  with_config(vault->add_subcommand("init", "Make the key files that are missing"), false, run_vault_init);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : kWrongUse;
  }
  return run();
}

}  // namespace presetbridge::app
