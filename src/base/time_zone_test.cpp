#include "base/time_zone.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace presetbridge {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::sys_days;
using std::chrono::year;

TimeZone zone(std::string_view name) {
  return TimeZone::find(name).value();
}
Timestamp at(std::string_view text) {
  return parse_iso8601(text).value();
}
std::string day(std::string_view name, sys_days date) {
  return to_iso8601(zone(name).start_of(date));
}
// The beginnings of the hours of a day there.
std::vector<std::string> hours_of(std::string_view name, sys_days date) {
  const auto there = zone(name);
  std::vector<std::string> all;
  for (auto t = there.start_of(date); t < there.start_of(date + days{1}); t = there.end_of_hour(t)) {
    EXPECT_EQ(there.start_of_hour(t), t);
    EXPECT_EQ(there.start_of_hour(there.end_of_hour(t) - Millis{1}), t);
    all.push_back(to_iso8601(t));
  }
  return all;
}

TEST(TimeZoneTest, UtcIsItself) {
  EXPECT_EQ(to_iso8601(TimeZone().start_of(year{2026} / 11 / 23)), "2026-11-23T00:00:00.000Z");
  EXPECT_EQ(TimeZone().date_at(at("2026-11-23T23:59:59.999Z")), sys_days{year{2026} / 11 / 23});
  EXPECT_EQ(to_iso8601(zone("UTC").end_of_hour(at("2026-11-23T10:00:00Z"))), "2026-11-23T11:00:00.000Z");
}

TEST(TimeZoneTest, ADayBeginsAtItsMidnight) {
  EXPECT_EQ(day("Europe/Berlin", year{2026} / 11 / 23), "2026-11-22T23:00:00.000Z");
  EXPECT_EQ(day("Europe/Berlin", year{2026} / 7 / 1), "2026-06-30T22:00:00.000Z");
  EXPECT_EQ(day("Asia/Kathmandu", year{2026} / 11 / 23), "2026-11-22T18:15:00.000Z");
  EXPECT_EQ(day("Pacific/Kiritimati", year{2026} / 11 / 23), "2026-11-22T10:00:00.000Z");
  EXPECT_EQ(day("Pacific/Pago_Pago", year{2026} / 11 / 23), "2026-11-23T11:00:00.000Z");
  EXPECT_EQ(zone("America/New_York").date_at(at("2026-11-23T04:59:59Z")), sys_days{year{2026} / 11 / 22});
  EXPECT_EQ(zone("America/New_York").date_at(at("2026-11-23T05:00:00Z")), sys_days{year{2026} / 11 / 23});
}

TEST(TimeZoneTest, ClocksPutForwardMakeADayOf23HoursAndBackOneOf25) {
  const auto spring = hours_of("Europe/Berlin", year{2026} / 3 / 29);
  ASSERT_EQ(spring.size(), 23U);
  EXPECT_EQ(spring[1], "2026-03-29T00:00:00.000Z");
  EXPECT_EQ(spring[2], "2026-03-29T01:00:00.000Z") << "three o'clock follows one o'clock";
  EXPECT_EQ(hours_of("Europe/Berlin", year{2026} / 10 / 25).size(), 25U) << "two o'clock comes twice";
  EXPECT_EQ(hours_of("America/New_York", year{2026} / 3 / 8).size(), 23U);
  EXPECT_EQ(hours_of("America/New_York", year{2026} / 11 / 1).size(), 25U);
  EXPECT_EQ(hours_of("Asia/Kathmandu", year{2026} / 11 / 1).size(), 24U);
}

TEST(TimeZoneTest, ClocksMayChangeByHalfAnHourOrAtMidnight) {
  // 02:00 becomes 01:30, and is there again half an hour later.
  EXPECT_EQ(hours_of("Australia/Lord_Howe", year{2026} / 4 / 5).size(), 25U);
  // Midnight is one o'clock at once.
  EXPECT_EQ(day("Asia/Beirut", year{2026} / 3 / 29), "2026-03-28T22:00:00.000Z");
  EXPECT_EQ(hours_of("Asia/Beirut", year{2026} / 3 / 29).size(), 23U);
  // One o'clock becomes midnight: the day has begun already.
  EXPECT_EQ(day("America/Havana", year{2026} / 11 / 1), "2026-11-01T04:00:00.000Z");
  EXPECT_EQ(hours_of("America/Havana", year{2026} / 11 / 1).size(), 25U);
  // A day that was not: the island went over the date line.
  EXPECT_EQ(day("Pacific/Apia", year{2011} / 12 / 30), day("Pacific/Apia", year{2011} / 12 / 31));
}

TEST(TimeZoneTest, DaysFollowEachOtherWithoutAGapInEveryZone) {
  for (const auto* name : {"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca",
                           "America/St_Johns", "Asia/Tehran", "UTC"}) {
    const auto there = zone(name);
    for (sys_days date = year{2024} / 1 / 1; date < sys_days{year{2028} / 1 / 1}; date += days{1}) {
      const auto begin = there.start_of(date);
      EXPECT_EQ(there.date_at(begin), date) << name;
      EXPECT_EQ(there.date_at(begin - Millis{1}), date - days{1}) << name;
    }
  }
}

TEST(TimeZoneTest, WhatIsNoZoneIsNone) {
  for (const auto* name : {"", "Berlin", "Europe/berlin", "../../etc/passwd", "Europe/Berlin ", "zone.tab",
                           "Europe", "/usr/share/zoneinfo/UTC"}) {
    EXPECT_FALSE(TimeZone::find(name)) << name;
  }
  EXPECT_FALSE(TimeZone::find(std::string(100'000, 'a')));
  EXPECT_FALSE(TimeZone::find(std::string_view("UTC\0x", 5)));
}

}  // namespace
}  // namespace presetbridge
