// The command line of `presetbridge vault`: init, rotate, drop and keys.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "app/verbs/config_flags.h"

namespace presetbridge::app {

// Adds the verbs; sets `run` to the function of the chosen verb. `run` and `flags` outlive the parsing.
void add_vault_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);

}  // namespace presetbridge::app
