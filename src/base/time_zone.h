// Days and hours as people in a time zone have them, by the system's tz database: days of 23, 24 or 25 hours,
// and hours that come twice or not at all.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace date {
class time_zone;
}

namespace presetbridge {

// A value that refers to data which is never freed. Thread-safe.
class TimeZone {
 public:
  // UTC, which needs no database.
  TimeZone() = default;
  // By its IANA name ("Europe/Berlin"), which is hostile text. Nothing: there is no such zone here.
  static std::optional<TimeZone> find(std::string_view name);

  std::chrono::sys_days date_at(Timestamp at) const;  // the calendar's date there
  // The day's first moment: midnight, or when the clocks were put forward over it.
  Timestamp start_of(std::chrono::sys_days date) const;
  // When the hour there began in which `at` lies; an hour that comes twice is two.
  Timestamp start_of_hour(Timestamp at) const;
  // When the hour ends: the next full hour there, or when the clocks are changed before it.
  Timestamp end_of_hour(Timestamp at) const;

 private:
  explicit TimeZone(const date::time_zone* zone) : zone_(zone) {}
  struct Offset;
  Offset offset_at(Timestamp at) const;

  const date::time_zone* zone_ = nullptr;  // null: UTC
};

}  // namespace presetbridge
