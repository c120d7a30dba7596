// The command line of the verbs for trials: `presetbridge demo`, `listen` and `send-order`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace presetbridge::app {

// Adds the verbs; sets `run` to the function of the chosen verb. `run` outlives the parsing.
void add_trial_verbs(CLI::App& app, std::function<int()>& run);

}  // namespace presetbridge::app
