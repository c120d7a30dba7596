// Percent-encoding (RFC 3986): what parts of paths, queries and x-www-form-urlencoded bodies are written in.
#pragma once

#include <string>
#include <string_view>

namespace presetbridge {

// Every byte that is not unreserved is encoded: letters, digits and "-._~" remain.
std::string percent_encoded(std::string_view text);

}  // namespace presetbridge
