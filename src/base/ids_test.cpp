#include "base/ids.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/id_time.h"
#include "base/testing.h"

namespace presetbridge {
namespace {

TEST(Ids, RoundTripAndSortAsTheirIntegersDo) {
  const std::int64_t values[] = {1, 31, 32, 1'000'000, std::numeric_limits<std::int64_t>::max()};
  std::string last;
  for (auto v : values) {
    const auto text = to_string(DeliveryId{v});
    EXPECT_EQ(parse_id<DeliveryKind>(text), DeliveryId{v});
    EXPECT_LT(last, text);
    last = text;
  }
}

TEST(Ids, RefuseOtherPrefixesLengthsAlphabetsAndOverflow) {
  EXPECT_FALSE(parse_id<DeliveryKind>("ord_0000000000001"));
  EXPECT_FALSE(parse_id<DeliveryKind>("del_000000000001"));
  EXPECT_FALSE(parse_id<DeliveryKind>("del_00000000000001"));
  EXPECT_FALSE(parse_id<DeliveryKind>("del_000000000000U"));
  EXPECT_FALSE(parse_id<DeliveryKind>("del_0000000000000"));
  EXPECT_FALSE(parse_id<DeliveryKind>("del_zzzzzzzzzzzzz"));
  EXPECT_FALSE(parse_id<DeliveryKind>(""));
}

TEST(Ids, GrowEvenWhenTheClockStepsBackOrStandsStill) {
  testing::ManualClock clock;
  IdSource ids(clock, 7);
  std::int64_t last = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (i == 5'000) clock.advance(Millis{-60'000});
    const auto id = ids.next();
    EXPECT_GT(id, last);
    EXPECT_EQ((id >> 12) & 1023, 7);
    last = id;
  }
}

TEST(Ids, OfATimeAreARange) {
  testing::ManualClock clock;
  IdSource ids(clock, 1'023);
  const auto before = ids.next();
  clock.advance(Millis{1});
  const auto after = ids.next();
  EXPECT_LT(before, first_id_at(clock.now()));
  EXPECT_LE(first_id_at(clock.now()), after);
  EXPECT_GE(before, first_id_at(clock.now() - Millis{1}));
  EXPECT_EQ(first_id_at(from_unix_ms(0)), 0);
}

}  // namespace
}  // namespace presetbridge
