// Times as requests write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace presetbridge::api {

// RFC 3339, as "2026-01-31T12:00:00Z": of a year from 1970 to 2999 as it is written, with seconds up to 59,
// at most nine digits after them, and an offset.
std::optional<Timestamp> parse_sent_time(std::string_view text);
// The problem of a text that is no time.
inline constexpr std::string_view kNoSentTime = "must be a time like 2026-01-31T12:00:00Z, from 1970 to 2999";

}  // namespace presetbridge::api
