// The command line of `presetbridge migrate`, `copy` and `database`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "app/verbs/config_flags.h"

namespace presetbridge::app {

// Each adds its verbs and sets `run` to the function of the chosen one. `run` and `flags` outlive the parsing.
void add_migrate_verb(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);
void add_copy_verb(CLI::App& app, std::function<int()>& run);
void add_database_verbs(CLI::App& app, std::function<int()>& run);

}  // namespace presetbridge::app
