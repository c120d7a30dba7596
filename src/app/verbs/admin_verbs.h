// `presetbridge admin`: the operator's commands, as words of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "app/verbs/config_flags.h"

namespace presetbridge::app {

// Each verb is a command of AdminCommands, its options the command's arguments. `run` becomes what the chosen
// verb does; it and `flags` outlive the parsing.
void add_admin_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);

}  // namespace presetbridge::app
