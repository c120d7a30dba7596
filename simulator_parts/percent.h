// Percent-encoded text, as targets and forms carry it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::simulator_parts {

// Nothing for a broken escape.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space = false);
// The decoded value of one query parameter; empty if it is absent or broken.
std::string query_value(std::string_view query, std::string_view name);

}  // namespace presetbridge::simulator_parts
