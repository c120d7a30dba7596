#include "app/verbs/config_flags.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <variant>

namespace presetbridge::app {

void report_problems(const std::vector<FieldProblem>& problems) {
  for (const auto& [field, problem] : problems) {
    const auto setting = std::ranges::find(settings(), field, &Setting::key);
    std::string flag;
    if (setting != settings().end()) flag = " (--" + flag_name(*setting) + ")";
    std::fprintf(stderr, "presetbridge: %s %s%s\n", field.c_str(), problem.c_str(), flag.c_str());
  }
}

void ConfigFlags::add_to(CLI::App& verb) {
  verb.add_option("--config", file_, "TOML file of settings (else PRESETBRIDGE_CONFIG)");
  for (const auto& setting : settings()) {
    const auto take = [this, key = std::string(setting.key)](const std::string& value) {
      flags_.emplace_back(key, value);
    };
    const std::string name = "--" + flag_name(setting);
    if (std::holds_alternative<bool Config::*>(setting.member)) {
      // A text, so that the setting, not the flag, judges the words behind an equals sign.
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

LoadedConfig ConfigFlags::load() const {
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

std::optional<Config> ConfigFlags::load_or_report(std::initializer_list<std::string_view> needless) const {
  auto loaded = load();
  std::erase_if(loaded.problems, [&](const FieldProblem& p) {
    return std::ranges::find(needless, p.field) != needless.end();
  });
  report_problems(loaded.problems);
  if (!loaded.problems.empty()) return std::nullopt;
  return std::move(loaded.config);
}

}  // namespace presetbridge::app
