#include "app/verbs/vault_verbs.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/verbs/outcome.h"
#include "app/verbs/vault_init.h"
#include "app/verbs/vault_rotation.h"

namespace presetbridge::app {
namespace {

struct VaultOptions {
  bool replace_lost = false;
  bool now = false;
  std::vector<std::string> kinds;
};

}  // namespace

void add_vault_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run) {
  auto* vault = app.add_subcommand("vault", "The keys at rest: of the vault, the service, the issuer, links");
  vault->require_subcommand(1);
  const auto options = std::make_shared<VaultOptions>();
  const auto add = [&](const std::string& name, const char* help, std::function<int(const Config&)> does) {
    auto* verb = vault->add_subcommand(name, help);
    flags.add_to(*verb);
    verb->callback([&run, &flags, does] {
      run = [&flags, does] {
        const auto config = flags.load_or_report({"cloud.url"});
        return config ? does(*config) : kWrongUse;
      };
    });
    return verb;
  };
  auto* init = add("init", "Make the key files that are missing",
                   [options](const Config& config) { return run_vault_init(config, options->replace_lost); });
  init->add_flag("--replace-lost", options->replace_lost,
                 "The vault's keys are lost: make new ones; every login must be saved again");
  auto* rotate = add("rotate", "Rotate keys while the service runs; run it again to continue",
                     [options](const Config& config) {
                       return run_vault_rotate(config, options->kinds, std::cout, std::cerr);
                     });
  auto* drop = add("drop", "Delete old keys that seal no record any more", [options](const Config& config) {
    return run_vault_drop(config, options->kinds, options->now, std::cout, std::cerr);
  });
  drop->add_flag("--now", options->now,
                 "Drop the issuer's and the links' old keys now: ID tokens and links made by them open "
                 "nothing any more");
  for (auto* verb : {rotate, drop}) {
    verb->add_option("--keys", options->kinds, "Only these: vault, service, issuer, links (default: all)")
        ->delimiter(',')
        ->check(CLI::IsMember({"vault", "service", "issuer", "links"}));
  }
  add("keys", "Print which keys are in use",
      [](const Config& config) { return run_vault_keys(config, std::cout, std::cerr); });
}

}  // namespace presetbridge::app
