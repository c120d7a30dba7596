// The generic order payload, of the seed's own making: strict, since its sender is a program that can be put
// right (spec 2.9). Every problem is told at once.
#pragma once

#include "providers/parse.h"

namespace presetbridge::providers::generic {

Expected<domain::OrderEvent> read(const ParseInput& input);

}  // namespace presetbridge::providers::generic
