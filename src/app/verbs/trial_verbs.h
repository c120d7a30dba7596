// The verbs with which people try things out, as words of the command line: `demo`, `listen`, `send-order`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace presetbridge::app {

// `run` becomes what the chosen verb does; it outlives the parsing.
void add_trial_verbs(CLI::App& app, std::function<int()>& run);

}  // namespace presetbridge::app
