// A paid order as JSON of the hosted platform (spec 2.8, 2.9), made up.
#pragma once

#include <string>

#include "providers/sample_order.h"

namespace presetbridge::providers::provider_a {

std::string write_sample(const SampleOrder& order);

}  // namespace presetbridge::providers::provider_a
