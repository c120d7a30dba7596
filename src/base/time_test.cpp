#include "base/time.h"

#include <gtest/gtest.h>

namespace presetbridge {
namespace {

TEST(Time, IsWrittenAsIso8601WithMilliseconds) {
  EXPECT_EQ(to_iso8601(from_unix_ms(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso8601(from_unix_ms(1'795'255'583'042)), "2026-11-21T10:06:23.042Z");
}

TEST(Time, IsReadWithOffsetsFractionsAndWithoutAZone) {
  const auto t = from_unix_ms(1'795'255'583'000);
  EXPECT_EQ(parse_iso8601("2026-11-21T10:06:23Z"), t);
  EXPECT_EQ(parse_iso8601("2026-11-21T05:06:23-05:00"), t);
  EXPECT_EQ(parse_iso8601("2026-11-21T10:06:23"), t);
  EXPECT_EQ(parse_iso8601("2026-11-21 10:06:23.0429"), t + Millis{42});
}

TEST(Time, RefusesWhatIsNotATime) {
  for (auto text :
       {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T10:06:23.Z", "2026-11-21T10:06:23Zx", "2026-11-21T10:06:23+5", "-026-11-21T10:06:23Z"}) {
    EXPECT_FALSE(parse_iso8601(text)) << text;
  }
}

TEST(Time, RefusesWhatFourDigitsOfAYearCannotWriteBack) {
  for (auto text : {"0000-01-01T00:00:00+00:01", "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-00:01"}) {
    EXPECT_FALSE(parse_iso8601(text)) << text;
  }
  for (auto text : {"0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"}) {
    const auto time = parse_iso8601(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(to_iso8601(*time), text);
  }
}

}  // namespace
}  // namespace presetbridge
