// The settings as flags of the verbs that use them (spec 12.4).
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config/config.h"

namespace presetbridge::app {

// Prints each problem on standard error, with the flag of its setting.
void report_problems(const std::vector<FieldProblem>& problems);

// The flags of every setting. Outlives the parsing of the command line, which fills it.
class ConfigFlags {
 public:
  void add_to(CLI::App& verb);
  // From the flags, the environment and the file.
  LoadedConfig load() const;
  // Prints all problems, but those of `needless` settings, which the verb does not use; then returns nothing.
  std::optional<Config> load_or_report(std::initializer_list<std::string_view> needless = {}) const;

 private:
  std::string file_;
  std::string ignored_;
  std::vector<std::pair<std::string, std::string>> flags_;
};

}  // namespace presetbridge::app
