// Times as requests write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace presetbridge::api {

// RFC 3339, as "2026-01-31T12:00:00Z": with seconds up to 59, at most nine digits after them, and an offset.
std::optional<Timestamp> parse_sent_time(std::string_view text);

}  // namespace presetbridge::api
