// Percent-encoding (RFC 3986), for parts of paths, of queries and of x-www-form-urlencoded bodies.
#pragma once

#include <string>
#include <string_view>

namespace presetbridge {

// `text` with each byte as %XX but letters and digits of ASCII and "-._~", which stay as they are.
std::string percent_encoded(std::string_view text);

}  // namespace presetbridge
