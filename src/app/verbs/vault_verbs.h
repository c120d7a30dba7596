// `presetbridge vault`: init, rotate, drop and keys, as words of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "app/verbs/config_flags.h"

namespace presetbridge::app {

// `run` becomes what the chosen verb does; it and `flags` outlive the parsing.
void add_vault_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);

}  // namespace presetbridge::app
