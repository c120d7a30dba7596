#include "domain/time_buckets.h"

#include <gtest/gtest.h>

namespace presetbridge::domain {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::sys_days;
using std::chrono::year;

Timestamp at(std::string_view text) {
  return parse_iso8601(text).value();
}
TimeBuckets buckets(std::string_view zone, Bucket bucket, std::string_view from, std::string_view to) {
  return {TimeZone::find(zone).value(), bucket, at(from), at(to)};
}

TEST(TimeBucketsTest, APeriodIsTheDaysThatItTouches) {
  const auto b = buckets("Europe/Berlin", Bucket::day, "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z");
  ASSERT_EQ(b.size(), 3U);
  EXPECT_EQ(to_iso8601(b.begin(0)), "2026-03-27T23:00:00.000Z");
  EXPECT_EQ(to_iso8601(b.begin(1)), "2026-03-28T23:00:00.000Z");
  EXPECT_EQ(to_iso8601(b.begin(2)), "2026-03-29T22:00:00.000Z") << "the 29th has 23 hours";
  EXPECT_EQ(to_iso8601(b.end()), "2026-03-30T22:00:00.000Z");
  EXPECT_EQ(b.of(b.begin(1) - Millis{1}), 0U);
  EXPECT_EQ(b.of(b.begin(1)), 1U);
  EXPECT_EQ(b.of(b.end() - Millis{1}), 2U);
  EXPECT_FALSE(b.of(b.end()));
  EXPECT_FALSE(b.of(b.begin() - Millis{1}));
  EXPECT_EQ(b.first_date(), sys_days{year{2026} / 3 / 28});
  EXPECT_EQ(b.end_date(), sys_days{year{2026} / 3 / 31});
  EXPECT_EQ(b.of_date(year{2026} / 3 / 29), 1U);
  EXPECT_FALSE(b.of_date(year{2026} / 3 / 27));
  EXPECT_FALSE(b.of_date(year{2026} / 3 / 31));
}

TEST(TimeBucketsTest, AnEndAtMidnightTouchesNoFurtherDay) {
  const auto b = buckets("UTC", Bucket::day, "2026-03-28T00:00:00Z", "2026-03-30T00:00:00Z");
  EXPECT_EQ(b.size(), 2U);
}

TEST(TimeBucketsTest, HoursFollowTheClockThroughItsChanges) {
  const auto spring = buckets("Europe/Berlin", Bucket::hour, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
  EXPECT_EQ(spring.size(), 23U);
  const auto autumn = buckets("Europe/Berlin", Bucket::hour, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
  EXPECT_EQ(autumn.size(), 25U);
  const auto kathmandu =
      buckets("Asia/Kathmandu", Bucket::hour, "2026-03-28T10:00:00Z", "2026-03-28T11:00:00Z");
  ASSERT_EQ(kathmandu.size(), 2U);
  EXPECT_EQ(to_iso8601(kathmandu.begin(0)), "2026-03-28T09:15:00.000Z");
}

TEST(TimeBucketsTest, ADateThatWasLeftOutHasNoPlaceOfItsOwn) {
  const auto b = buckets("Pacific/Apia", Bucket::day, "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z");
  EXPECT_EQ(b.size(), 3U);
  EXPECT_TRUE(b.of_date(year{2011} / 12 / 30));
}

TEST(TimeBucketsTest, EachMomentOfAYearHasOnePlace) {
  for (const auto* zone : {"Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns"}) {
    for (const auto bucket : {Bucket::hour, Bucket::day}) {
      const auto b = buckets(zone, bucket, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
      std::size_t last = 0;
      for (auto t = b.begin(); t < b.end(); t += std::chrono::minutes{15}) {
        const auto place = b.of(t).value();
        EXPECT_TRUE(place == last || place == last + 1) << zone << to_iso8601(t);
        EXPECT_GE(t, b.begin(place));
        last = place;
      }
      EXPECT_EQ(last + 1, b.size());
    }
  }
}

}  // namespace
}  // namespace presetbridge::domain
