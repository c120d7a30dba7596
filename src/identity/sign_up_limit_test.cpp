#include "identity/sign_up_limit.h"

#include <gtest/gtest.h>

namespace presetbridge::identity {
namespace {

using std::chrono::minutes;

const Timestamp kStart = from_unix_ms(1'700'000'000'000);
constexpr Millis kNow{0};

TEST(SignUpLimit, WhoUsesUpTheirOwnAttemptsLeavesThoseOfOthers) {
  SignUpLimit limit({.per_address = 2, .together = 4});
  EXPECT_EQ(limit.admit("192.0.2.1", kStart), kNow);
  EXPECT_EQ(limit.admit("192.0.2.1", kStart + minutes{10}), kNow);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(limit.admit("192.0.2.1", kStart + minutes{15}), Millis{minutes{45}});
  EXPECT_EQ(limit.admit("192.0.2.2", kStart + minutes{20}), kNow);
  EXPECT_EQ(limit.admit("192.0.2.1", kStart + minutes{60}), kNow) << "the first try is an hour ago";
}

TEST(SignUpLimit, ManyPlacesTogetherMeetTheLimitOfAll) {
  SignUpLimit limit({.per_address = 2, .together = 3});
  for (const char* place : {"a", "b", "c"}) EXPECT_EQ(limit.admit(place, kStart), kNow);
  EXPECT_EQ(limit.admit("d", kStart + minutes{10}), Millis{minutes{50}});
  EXPECT_EQ(limit.admit("a", kStart + minutes{10}), Millis{minutes{50}});
}

TEST(SignUpLimit, APlaceOfWhichNothingIsKnownMeetsOnlyTheLimitOfAll) {
  SignUpLimit limit({.per_address = 1, .together = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.admit("", kStart), kNow);
  EXPECT_GT(limit.admit("", kStart), kNow);
  EXPECT_EQ(limit.places(), 0u);
}

TEST(SignUpLimit, ATryThatIsGivenBackMayBeMadeAgain) {
  SignUpLimit limit({.per_address = 1, .together = 1});
  EXPECT_EQ(limit.admit("a", kStart), kNow);
  limit.give_back("a", kStart);
  EXPECT_EQ(limit.admit("a", kStart + minutes{1}), kNow);
  EXPECT_GT(limit.admit("a", kStart + minutes{2}), kNow);
  limit.give_back("b", kStart + minutes{2});  // never counted: nothing to give back
  EXPECT_GT(limit.admit("b", kStart + minutes{3}), kNow);
}

TEST(SignUpLimit, HoldsNoMorePlacesThanEverybodyHasAttempts) {
  SignUpLimit limit({.per_address = 2, .together = 5});
  for (int i = 0; i < 1'000; ++i) {
    limit.admit("place " + std::to_string(i), kStart + minutes{i});
    ASSERT_LE(limit.places(), 5u) << i;
  }
}

}  // namespace
}  // namespace presetbridge::identity
