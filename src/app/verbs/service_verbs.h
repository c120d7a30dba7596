// The command line of `presetbridge serve`, `config` and `doctor`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "app/verbs/config_flags.h"

namespace presetbridge::app {

// Each adds its verbs and sets `run` to the function of the chosen one. `run` and `flags` outlive the parsing.
void add_serve_verb(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);
void add_config_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);
void add_doctor_verb(CLI::App& app, ConfigFlags& flags, std::function<int()>& run);

}  // namespace presetbridge::app
