#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/verbs/admin_verbs.h"
#include "app/verbs/config_flags.h"
#include "app/verbs/database_verbs.h"
#include "app/verbs/outcome.h"
#include "app/verbs/service_verbs.h"
#include "app/verbs/trial_verbs.h"
#include "app/verbs/vault_verbs.h"
#include "app/version.h"
#include "base/nearest_name.h"
#include "cloud/credential_agent.h"

namespace presetbridge::app {
namespace {

constexpr int kAgentDescriptor = 3;

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

// The error in the words, and the verbs that there were to choose from.
std::string failure_text(const CLI::App* app, const CLI::Error& error) {
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
  // A word that is no verb is reported as such.
  const bool unknown = at < words.size() && !words[at].starts_with('-') &&
                       !verb->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (asked && !unknown) words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "--help");
  return words;
}

void set_version_of_each(CLI::App& verb, const std::string& version) {
  verb.set_version_flag("--version", version, "Print the version and exit");
  for (auto* one : verb.get_subcommands([](CLI::App*) { return true; })) set_version_of_each(*one, version);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  if (argc >= 2 && std::string_view(argv[1]) == "credential-agent") return run_agent(argc, argv);

  CLI::App app{"Preset Delivery Bridge: from a store's order to a file shared on the cloud platform."};
  app.name("presetbridge");
  app.require_subcommand(1);
  app.failure_message(failure_text);
  ConfigFlags flags;
  std::function<int()> run;

  add_serve_verb(app, flags, run);
  add_migrate_verb(app, flags, run);
  add_config_verbs(app, flags, run);
  add_doctor_verb(app, flags, run);
  add_vault_verbs(app, flags, run);
  add_admin_verbs(app, flags, run);
  add_copy_verb(app, run);
  add_database_verbs(app, run);
  add_trial_verbs(app, run);

  set_version_of_each(app, "presetbridge " + std::string(kVersion) + " (" + std::string(kCommit) + ")");
  app.footer("`presetbridge help VERB` and `presetbridge VERB --help` explain one verb.");

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
