#include "base/recurring.h"

#include <gtest/gtest.h>

namespace presetbridge {
namespace {

using std::chrono::seconds;

TEST(Recurring, IsDueAtFirstAndEverySoOftenAndWhenHastened) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  Recurring poll(seconds{5});
  EXPECT_TRUE(poll.take(start));
  EXPECT_FALSE(poll.take(start));
  EXPECT_EQ(poll.left(start + seconds{1}), seconds{4});
  EXPECT_FALSE(poll.take(start + Millis{4'999}));
  EXPECT_TRUE(poll.take(start + seconds{5}));
  poll.hasten();
  EXPECT_EQ(poll.left(start + seconds{5}), Millis{0});
  EXPECT_TRUE(poll.take(start + seconds{5}));
}

TEST(Recurring, TakesAFiftiethOfTheTimeAndIsDueAfterAMinuteAtMost) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  Recurring poll(seconds{5});
  EXPECT_TRUE(poll.take(start));
  poll.done(Millis{100});
  EXPECT_EQ(poll.left(start), seconds{5}) << "that is a fiftieth";
  poll.done(Millis{200});
  EXPECT_FALSE(poll.take(start + Millis{9'999}));
  EXPECT_TRUE(poll.take(start + seconds{10}));
  poll.done(seconds{10});
  EXPECT_FALSE(poll.take(start + Millis{69'999}));
  EXPECT_TRUE(poll.take(start + seconds{70}));
  EXPECT_EQ(poll.left(start + seconds{70}), seconds{5}) << "that one was quick";
}

TEST(Recurring, IsDueWhenTheClockWasSetBack) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  Recurring poll(seconds{5});
  EXPECT_TRUE(poll.take(start));
  EXPECT_TRUE(poll.take(start - std::chrono::hours{1}));
  EXPECT_FALSE(poll.take(start - std::chrono::hours{1}));
}

}  // namespace
}  // namespace presetbridge
