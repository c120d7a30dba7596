// Runs a history on the service, in virtual time, beside the model.
#pragma once

#include <optional>
#include <string>

#include "history.h"

namespace presetbridge::simulation {

struct Finding {
  std::size_t at = 0;  // the command after which it showed
  std::string what;
  std::string story;  // what was told and seen, line by line; empty unless asked for
};

// Nothing: what the specification says held after every command, and at the end when all was quiet.
std::optional<Finding> run(const History& history, bool with_story = false);

// The shortest part of the history that still shows something wrong.
History shrink(History history);

}  // namespace presetbridge::simulation
