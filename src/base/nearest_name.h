// The known name that is nearest to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace presetbridge {

// The one of `known` with the fewest letters changed, added or left out; the first of several. Nothing where
// even that is more than a third of `name` (at least two letters), or `name` is longer than 80 bytes.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace presetbridge
