// The text by which a person recognises their own device in a list of sessions.
#pragma once

#include <string>
#include <string_view>

namespace presetbridge::identity {

// "Firefox on Linux", "Safari on iOS"; of programs the name of the first product, "curl"; empty:
// unknown. At most 80 bytes of printable ASCII. `header`: of the request, any bytes.
std::string summary_of_user_agent(std::string_view header);

}  // namespace presetbridge::identity
