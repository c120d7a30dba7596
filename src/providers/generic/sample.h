// A made-up paid order as JSON of a generic store (spec 2.8, 2.9).
#pragma once

#include <string>

#include "providers/sample_order.h"

namespace presetbridge::providers::generic {

std::string write_sample(const SampleOrder& order);

}  // namespace presetbridge::providers::generic
