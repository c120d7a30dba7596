// Time as the service speaks it: UTC, whole milliseconds. Nothing here reads a clock (see clock.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace presetbridge {

using Millis = std::chrono::milliseconds;
using Timestamp = std::chrono::sys_time<Millis>;

// Milliseconds since 1970-01-01T00:00:00Z: how a Timestamp is stored.
constexpr std::int64_t to_unix_ms(Timestamp t) {
  return t.time_since_epoch().count();
}
constexpr Timestamp from_unix_ms(std::int64_t ms) {
  return Timestamp{Millis{ms}};
}

// "2026-11-21T10:06:23.000Z" (spec 8.2).
std::string to_iso8601(Timestamp t);

// Reads RFC 3339 / ISO 8601 with 'Z', an offset, or none (then UTC, as `date_modified_gmt` of provider_b is
// written); fractions of a second are cut to milliseconds. Nothing for anything else.
std::optional<Timestamp> parse_iso8601(std::string_view text);

}  // namespace presetbridge
