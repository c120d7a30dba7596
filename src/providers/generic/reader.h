// The generic order payload, of the seed's own making: strict, since its sender is a program that can be
// corrected (spec 2.9). Every problem is reported at once.
#pragma once

#include "providers/parse.h"

namespace presetbridge::providers::generic {

Expected<domain::OrderEvent> read(const ParseInput& input);

}  // namespace presetbridge::providers::generic
