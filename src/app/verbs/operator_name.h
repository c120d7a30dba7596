// Who is at the machine, for the audit log (spec 7.4).
#pragma once

#include <string>

namespace presetbridge::app {

// "ann on host-1"; who has become another user by sudo: "ann as root on host-1". Users without a name are
// told by number.
std::string operator_name();

}  // namespace presetbridge::app
