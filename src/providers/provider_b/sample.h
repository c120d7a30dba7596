// A paid order as JSON of the plugin shop (spec 2.8, 2.9), made up.
#pragma once

#include <string>

#include "providers/sample_order.h"

namespace presetbridge::providers::provider_b {

std::string write_sample(const SampleOrder& order);

}  // namespace presetbridge::providers::provider_b
