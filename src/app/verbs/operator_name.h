// Who is at the machine, for the audit log (spec 7.4).
#pragma once

#include <string>

namespace presetbridge::app {

// "ann on host-1"; for a user who became another one by sudo: "ann as root on host-1". Users without a name
// appear by number.
std::string operator_name();

}  // namespace presetbridge::app
