#include "base/time_zone.h"

#include <date/tz.h>

#include <algorithm>
#include <exception>
#include <string>

namespace presetbridge {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;

// In force from `begin` to before `end`.
struct TimeZone::Offset {
  Millis offset{};
  Timestamp begin;
  Timestamp end;
};

std::optional<TimeZone> TimeZone::find(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  if (name == "UTC") return TimeZone();
  if (name.empty() || name.size() > kLongest) return std::nullopt;
  try {
    const TimeZone zone(date::locate_zone(std::string(name)));
    // The zone's file is read at its first use.
    (void)zone.offset_at(Timestamp{});
    return zone;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

TimeZone::Offset TimeZone::offset_at(Timestamp at) const {
  // Beyond any time that is asked for; the library's own ends do not fit into milliseconds.
  constexpr Timestamp kFirst{days{-1'000'000}};
  constexpr Timestamp kLast{days{1'000'000}};
  if (zone_ == nullptr) return {Millis{0}, kFirst, kLast};
  const auto info = zone_->get_info(floor<std::chrono::seconds>(at));
  const auto within = [&](auto time) {
    return Timestamp{
        std::clamp(time, floor<std::chrono::seconds>(kFirst), floor<std::chrono::seconds>(kLast))};
  };
  return {info.offset, within(info.begin), within(info.end)};
}

std::chrono::sys_days TimeZone::date_at(Timestamp at) const {
  return floor<days>(at + offset_at(at).offset);
}

Timestamp TimeZone::start_of(std::chrono::sys_days date) const {
  const Timestamp midnight{date};
  // No clock is a day or more ahead or behind. Takes the first of the offsets around it that has the
  // day's beginning.
  auto now = offset_at(midnight - days{1});
  while (midnight - now.offset >= now.end) now = offset_at(now.end);
  return std::max(midnight - now.offset, now.begin);
}

Timestamp TimeZone::start_of_hour(Timestamp at) const {
  const auto now = offset_at(at);
  return std::max(now.begin, Timestamp{floor<hours>(at + now.offset)} - now.offset);
}

Timestamp TimeZone::end_of_hour(Timestamp at) const {
  const auto now = offset_at(at);
  return std::min(now.end, Timestamp{floor<hours>(at + now.offset)} + hours{1} - now.offset);
}

}  // namespace presetbridge
