#include "app/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/admin/admin_channel.h"
#include "app/config/config.h"
#include "app/service/data_directory.h"
#include "app/service/open_database.h"
#include "app/verbs/copy_verb.h"
#include "app/verbs/database_grant.h"
#include "app/verbs/doctor.h"
#include "app/verbs/operator_name.h"
#include "app/verbs/serve.h"
#include "app/verbs/terminal_password.h"
#include "app/verbs/trial_verbs.h"
#include "app/verbs/vault_verbs.h"
#include "app/version.h"
#include "base/nearest_name.h"
#include "cloud/credential_agent.h"
#include "crypto/random.h"
#include "storage/schema/migrations.h"
#include "storage/stores/key_store.h"

namespace presetbridge::app {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr int kAgentDescriptor = 3;

int failed(const Error& error) {
  std::fprintf(stderr, "presetbridge: %s\n", error.message.c_str());
  return kFailed;
}

// Each with the flag that sets what is wrong.
void tell(const std::vector<FieldProblem>& problems) {
  for (const auto& [field, problem] : problems) {
    const auto setting = std::ranges::find(settings(), field, &Setting::key);
    std::string flag;
    if (setting != settings().end()) flag = " (--" + flag_name(*setting) + ")";
    std::fprintf(stderr, "presetbridge: %s %s%s\n", field.c_str(), problem.c_str(), flag.c_str());
  }
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
        // Of a text, so that what stands behind an equals sign is told apart by the setting, not by the flag.
        verb.add_flag(name, ignored_, std::string(setting.help))->each(take)->group("Settings");
      } else {
        auto* const option = verb.add_option_function<std::string>(name, take, std::string(setting.help));
        option->group("Settings")->default_str(flag_value(setting, Config{}));
        if (std::holds_alternative<std::int64_t Config::*>(setting.member)) option->type_name("N");
        if (!setting.choices.empty()) {
          std::string choices(setting.choices);
          std::ranges::replace(choices, ' ', '|');
          option->type_name(choices);
        }
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
  // Nothing after all problems were told, but those of settings that the verb has no need of.
  std::optional<Config> load_or_tell(std::initializer_list<std::string_view> needless = {}) const {
    auto loaded = load();
    std::erase_if(loaded.problems, [&](const FieldProblem& p) {
      return std::ranges::find(needless, p.field) != needless.end();
    });
    tell(loaded.problems);
    if (!loaded.problems.empty()) return std::nullopt;
    return std::move(loaded.config);
  }

 private:
  std::string file_;
  std::string ignored_;
  std::vector<std::pair<std::string, std::string>> flags_;
};

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

// New keys beside a database that has secrets hide that the old ones are lost (spec 5.2).
Expected<void> check_for_lost_keys(const Config& config, const DataDirectory& directory, bool replace_lost) {
  const auto is_there = [](const std::filesystem::path& file) { return std::filesystem::exists(file); };
  const bool lost_service = !is_there(directory.service_key);
  const bool lost_vault = !is_there(directory.vault_private_key) && !is_there(directory.vault_public_key);
  if ((!lost_service && !lost_vault) || (config.database_url.empty() && !is_there(directory.database)))
    return {};
  const auto open = open_database(config, directory);
  if (!open) return std::unexpected(open.error());
  if (auto applied = storage::migrate(*open->database); !applied) return std::unexpected(applied.error());
  bool sealed = false;
  bool encrypted = false;
  open->database->write([&](storage::Tx& tx) {
    sealed = !storage::used_keys(tx, storage::KeyUse::vault).empty();
    encrypted = !storage::used_keys(tx, storage::KeyUse::service).empty();
    if (lost_vault && replace_lost && !(encrypted && lost_service))
      storage::forget_used_keys(tx, storage::KeyUse::vault);
  });
  constexpr const char* kRestore =
      ": restore it from the backup of the keys, or copy service.key, vault.key and vault.pub from another "
      "node.";
  if (encrypted && lost_service) {
    return fail("KEY_FILE_MISSING", "The service key " + directory.service_key.string() +
                                        " is missing, and the database holds secrets that only it opens" +
                                        kRestore);
  }
  if (!sealed || !lost_vault || replace_lost) return {};
  return fail(
      "KEY_FILE_MISSING",
      "The vault's keys in " + directory.folder.string() +
          " are missing, and the database holds logins that only they open" + kRestore +
          " If nobody has them any more, --replace-lost makes new ones; every login must then be saved "
          "again.");
}

int run_vault_init(const Config& config, bool replace_lost) {
  const auto directory = data_directory(config);
  if (auto ready = prepare_data_directory(directory); !ready) return failed(ready.error());
  try {
    if (auto fit = check_for_lost_keys(config, directory, replace_lost); !fit) return failed(fit.error());
  } catch (const storage::DbError& e) {
    return failed({"STORAGE_UNAVAILABLE", "The database cannot be used: " + std::string(e.what()) + ".", {}});
  }
  crypto::SystemRandom random;
  const auto made = create_missing_keys(directory, random);
  if (!made) return failed(made.error());
  std::printf("%s in %s\n", *made == 0 ? "all key files are there already" : "key files were made",
              directory.folder.c_str());
  return 0;
}

int run_config_check(const ConfigFlags& flags) {
  auto loaded = flags.load();
  // What is wrong may be so because it holds a password.
  for (const auto& setting : settings()) {
    const auto* text = std::get_if<std::string Config::*>(&setting.member);
    if (text &&
        std::ranges::find(loaded.problems, setting.key, &FieldProblem::field) != loaded.problems.end())
      (loaded.config.**text).clear();
  }
  if (loaded.file_read) std::fputs(to_toml(loaded.config).c_str(), stdout);
  tell(loaded.problems);
  return loaded.problems.empty() ? 0 : kWrongUse;
}

int run_admin(const Config& config, const boost::json::object& request) {
  const auto done = administrate(config, request);
  if (!done) {
    for (const auto& [field, problem] : done.error().details)
      std::fprintf(stderr, "presetbridge: %s %s\n", field.c_str(), problem.c_str());
    return failed(done.error());
  }
  std::printf("%s\n", boost::json::serialize(*done).c_str());
  return 0;
}

// `admin`: each verb is a command of AdminCommands, its options the command's arguments.
void add_admin(CLI::App& app, ConfigFlags& flags, std::function<int()>& run) {
  auto* admin = app.add_subcommand(
      "admin",
      "The operator's: through the running service, or on the data directory where none runs. Prints JSON");
  admin->require_subcommand(1);
  const auto add = [&](const std::string& name, const char* help, bool password) {
    auto* verb = admin->add_subcommand(name, help);
    flags.add_to(*verb);
    auto request = std::make_shared<boost::json::object>();
    (*request)["command"] = name;
    (*request)["operator"] = operator_name();
    verb->callback([&run, &flags, request, password] {
      run = [&flags, request, password] {
        const auto config = flags.load_or_tell({"cloud.url"});
        if (!config) return kWrongUse;
        if (password) {
          auto typed = ask_password("New password", true);
          if (!typed) return kWrongUse;
          (*request)["password"] = std::move(*typed);
        }
        return run_admin(*config, *request);
      };
    });
    return std::pair{verb, request};
  };
  // The verb's callback owns its request.
  const auto text = [](auto& verb, const char* name, const char* help) {
    const char* key = name + std::strspn(name, "-");
    return verb.first->template add_option_function<std::string>(
        name, [request = verb.second.get(), key](const std::string& value) { (*request)[key] = value; },
        help);
  };
  const auto number = [](auto& verb, const char* name, const char* help) {
    const char* key = name + std::strspn(name, "-");
    return verb.first->template add_option_function<std::int64_t>(
        name, [request = verb.second.get(), key](std::int64_t value) { (*request)[key] = value; }, help);
  };
  auto create =
      add("create-account",
          "Make an account and its owner; asks for the password, or reads it from standard input", true);
  text(create, "email", "The owner's e-mail address")->required();
  text(create, "--name", "The account's name");
  auto list = add("list-accounts", "Accounts, newest first", false);
  text(list, "--cursor", "nextCursor of the page before");
  auto disable = add("disable-account",
                     "Refuse its people and keys; its stores' orders are kept, and not delivered", false);
  text(disable, "account", "acc_…")->required();
  text(disable, "--reason", "What the audit log says of it");
  auto enable = add("enable-account", "Undo disable-account", false);
  text(enable, "account", "acc_…")->required();
  auto keys = add("list-keys", "An account's API keys, newest first", false);
  text(keys, "account", "acc_…")->required();
  text(keys, "--cursor", "nextCursor of the page before");
  auto find = add("find-order", "An order, and what became of it", false);
  text(find, "order", "ord_…, del_…; with --account also number, store's order id, @username or e-mail")
      ->required();
  text(find, "--account", "Of this one: acc_…");
  auto grant = add("grant-credits", "Give credits to an account", false);
  text(grant, "account", "acc_…")->required();
  number(grant, "credits", "How many")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{9'007'199'254'740'991}));
  text(grant, "--note", "What the ledger says of it");
  auto purchases = add("purchases", "Purchases of credits, newest first", false);
  text(purchases, "--account", "Of this one: acc_…");
  text(purchases, "--state", "Only these")
      ->check(CLI::IsMember({"pending", "paid", "failed", "expired", "refunded", "disputed"}));
  text(purchases, "--cursor", "nextCursor of the page before");
  auto reconcile =
      add("reconcile", "Have the running service ask the payment processor what became of purchases", false);
  text(reconcile, "--purchase", "Of this one, now: pur_…");
  number(reconcile, "--days", "Read the processor's notices of so many days again")->check(CLI::Range(1, 30));
  auto refund = add("refund", "Give a purchase's money back through the payment processor", false);
  text(refund, "purchase", "pur_…")->required();
  // A service of before knows no total, and would give back all: it does not know this command.
  refund.first
      ->add_option_function<std::int64_t>(
          "--total",
          [request = refund.second.get()](std::int64_t total) {
            (*request)["command"] = "refund-total";
            (*request)["total"] = total;
          },
          "How much shall have gone back in all, in the currency's smallest unit (default: everything)")
      ->check(CLI::PositiveNumber);
  auto reset = add("reset-password", "A new password; asks for it, or reads it from standard input", true);
  text(reset, "email", "Whose")->required();
  auto limit = add("set-rate-limit", "How many requests an hour a key may make", false);
  text(limit, "key", "key_…")->required();
  number(limit, "limit", "Requests an hour")->required();
}

void add_copy(CLI::App& app, CopyVerbOptions& copy, std::function<int()>& run) {
  auto* verb = app.add_subcommand(
      "copy", "Move a stopped service's SQLite database to PostgreSQL; again after an interruption: goes on");
  verb->add_option("--from", copy.from, "sqlite:PATH of the database file")->required();
  verb->add_option("--to", copy.to, "postgresql://… of an empty database, without password")->required();
  verb->add_option("--data-dir", copy.data_dir,
                   "Folder of the keys that all nodes will have (default: the database file's)");
  verb->add_option("--piece", copy.piece_rows, "Rows of one transaction at most")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  verb->add_flag("--json", copy.json, "One JSON object a line");
  verb->callback([&] { run = [&copy] { return run_copy(copy, std::cout, std::cerr); }; });
}

struct VaultOptions {
  bool replace_lost = false;
  bool now = false;
  std::vector<std::string> kinds;
};

void add_vault(CLI::App& app, ConfigFlags& flags, VaultOptions& options, std::function<int()>& run) {
  auto* vault = app.add_subcommand("vault", "The keys at rest: of the vault, the service, the issuer, links");
  vault->require_subcommand(1);
  const auto add = [&](const std::string& name, const char* help, std::function<int(const Config&)> does) {
    auto* verb = vault->add_subcommand(name, help);
    flags.add_to(*verb);
    verb->callback([&run, &flags, does] {
      run = [&flags, does] {
        const auto config = flags.load_or_tell({"cloud.url"});
        return config ? does(*config) : kWrongUse;
      };
    });
    return verb;
  };
  auto* init = add("init", "Make the key files that are missing",
                   [&](const Config& config) { return run_vault_init(config, options.replace_lost); });
  init->add_flag("--replace-lost", options.replace_lost,
                 "The vault's keys are lost: make new ones; every login must be saved again");
  auto* rotate = add(
      "rotate", "Turn keys while the service runs; again, to go on with it",
      [&](const Config& config) { return run_vault_rotate(config, options.kinds, std::cout, std::cerr); });
  auto* drop = add("drop", "Give up old keys by which nothing is sealed any more", [&](const Config& config) {
    return run_vault_drop(config, options.kinds, options.now, std::cout, std::cerr);
  });
  drop->add_flag("--now", options.now,
                 "The issuer's and the links' too, although ID tokens and links that they made still open");
  for (auto* verb : {rotate, drop}) {
    verb->add_option("--keys", options.kinds, "Only these: vault, service, issuer, links (default: all)")
        ->delimiter(',')
        ->check(CLI::IsMember({"vault", "service", "issuer", "links"}));
  }
  add("keys", "Print which keys are in use",
      [](const Config& config) { return run_vault_keys(config, std::cout, std::cerr); });
}

void add_database(CLI::App& app, DatabaseGrantOptions& grant, std::function<int()>& run) {
  auto* database = app.add_subcommand("database", "The PostgreSQL that nodes share");
  database->require_subcommand(1);
  auto* verb = database->add_subcommand(
      "grant",
      "Give the database's roles of nodes their rights, and no more; as its owner, after each migration");
  verb->add_option("--database-url", grant.url,
                   "postgresql://… as the owner, without password (else PRESETBRIDGE_DATABASE_URL)")
      ->envname("PRESETBRIDGE_DATABASE_URL")
      ->required();
  verb->add_option("--api-role", grant.roles.api, "Of nodes that only serve the API: no stored logins");
  verb->add_option("--worker-role", grant.roles.worker, "Of all other nodes");
  verb->add_flag("--print", grant.print, "Print the statements, and run none");
  verb->callback([&] { run = [&grant] { return run_database_grant(grant, std::cout, std::cerr); }; });
}

// The hidden verb: what AgentProcess starts. Not parsed by CLI11, whose help nobody needs here.
int run_agent(int argc, char** argv) {
  const auto options = cloud::parse_agent_arguments(std::vector<std::string>(argv + 2, argv + argc));
  if (!options) return failed(options.error());
  return cloud::run_credential_agent(kAgentDescriptor, *options);
}

// The flag of this verb that was meant by one it has not, as a question behind a text.
std::string meant(const CLI::App& verb, const std::string& flag) {
  std::vector<std::string> known;
  for (const auto* option : verb.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
  const auto nearest = nearest_name(flag.substr(0, flag.find('=')), known);
  return nearest ? "; is " + *nearest + " meant?" : "";
}

// What was wrong with the words, and the verbs that stood to choose from.
std::string told(const CLI::App* app, const CLI::Error& error) {
  std::string known;
  const auto* last = app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  for (const auto* verb : last->get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); }))
    known.append(known.empty() ? "" : ", ").append(verb->get_name());
  const auto words = last->remaining();
  std::string text = "presetbridge: ";
  const auto flag = std::ranges::find_if(words, [](const auto& word) { return word.starts_with("--"); });
  if (known.empty() && flag != words.end()) {
    // Before what is missing, which the flag may have been meant to be.
    text += "There is no flag " + flag->substr(0, flag->find('=')) + " here" + meant(*last, *flag);
  } else if (known.empty()) {
    text += error.what();
  } else if (words.empty()) {
    text += "A verb is needed: " + known;
  } else {
    text += "There is no " + words.front() + "; the verbs are: " + known;
  }
  return text + "\nRun with --help for more.\n";
}

// `help` as a word is --help: first, before the verb that it is asked of, or behind that verb.
std::vector<std::string> with_help_as_flag(const CLI::App& app, std::vector<std::string> words) {
  const auto* verb = &app;
  std::size_t at = 0;
  bool asked = false;
  while (at < words.size()) {
    if (words[at] == "help" && !asked) {
      asked = true;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const auto next =
        verb->get_subcommands([&](const CLI::App* one) { return one->get_name() == words[at]; });
    if (next.empty()) break;
    verb = next.front();
    ++at;
  }
  // What is no verb is told as such.
  const bool unknown = at < words.size() && !words[at].starts_with('-') &&
                       !verb->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (asked && !unknown) words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "--help");
  return words;
}

void tell_version_of_each(CLI::App& verb, const std::string& version) {
  verb.set_version_flag("--version", version, "Tell the version and end");
  for (auto* one : verb.get_subcommands([](CLI::App*) { return true; })) tell_version_of_each(*one, version);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  if (argc >= 2 && std::string_view(argv[1]) == "credential-agent") return run_agent(argc, argv);

  CLI::App app{"Preset Delivery Bridge: from a store's order to a file shared on the cloud platform."};
  app.name("presetbridge");
  app.require_subcommand(1);
  app.failure_message(told);
  ConfigFlags flags;
  std::function<int()> run;

  auto* serving = app.add_subcommand("serve", "Serve, until SIGTERM");
  flags.add_to(*serving);
  bool replace_lost_database = false;
  serving->add_flag("--replace-lost-database", replace_lost_database,
                    "The database that the keys were used with is lost: begin anew with an empty one");
  serving->callback([&] {
    run = [&] {
      const auto config = flags.load_or_tell();
      return config ? serve(*config, replace_lost_database) : kWrongUse;
    };
  });
  auto* migrating = app.add_subcommand("migrate", "Bring the database's schema up to date");
  flags.add_to(*migrating);
  migrating->callback([&] {
    run = [&flags] {
      const auto config = flags.load_or_tell({"cloud.url", "base_url"});
      return config ? run_migrate(*config) : kWrongUse;
    };
  });

  auto* config_verb = app.add_subcommand("config", "The configuration");
  config_verb->require_subcommand(1);
  auto* check =
      config_verb->add_subcommand("check", "Print the effective settings as TOML, and every problem");
  flags.add_to(*check);
  check->callback([&run, &flags] { run = [&flags] { return run_config_check(flags); }; });

  auto* doctor =
      app.add_subcommand("doctor", "Look at everything that a deployment needs, and say what to do");
  flags.add_to(*doctor);
  bool doctor_json = false;
  doctor->add_flag("--json", doctor_json, "One JSON object a line");
  doctor->callback([&] { run = [&] { return run_doctor(flags.load(), doctor_json, std::cout); }; });

  VaultOptions vault;
  add_vault(app, flags, vault, run);
  add_admin(app, flags, run);
  CopyVerbOptions copy;
  add_copy(app, copy, run);
  DatabaseGrantOptions grant;
  add_database(app, grant, run);
  add_trial_verbs(app, run);

  tell_version_of_each(app, "presetbridge " + std::string(kVersion) + " (" + std::string(kCommit) + ")");
  app.footer("`presetbridge help VERB` and `presetbridge VERB --help` tell more of one.");

  try {
    auto words = with_help_as_flag(app, std::vector<std::string>(argv + 1, argv + argc));
    std::ranges::reverse(words);  // as parse() takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : kWrongUse;
  }
  return run();
}

}  // namespace presetbridge::app
