// The command line of `presetbridge admin`: the operator's commands.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "app/verbs/config_flags.h"

namespace presetbridge::app {

// Adds a verb for each command of AdminCommands, with an option for each argument; sets `run` to the function
// of the chosen verb. `run` and `flags` outlive the parsing.
void add_admin_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);

}  // namespace presetbridge::app
