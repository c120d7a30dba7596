// What must hold when all has come to rest, whatever the order was (spec 3.1, 3.6, 3.9, 10.1, 11.1).
#pragma once

#include <string>
#include <vector>

#include "scene.h"

namespace presetbridge::interleavings {

// A sentence for each fault.
std::vector<std::string> judge(Scene& scene);
// What a merchant and a buyer see in the end, without ids and times: two orders that end alike have the same.
std::string outcome(Scene& scene);

}  // namespace presetbridge::interleavings
