#include "domain/retry_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);

TEST(RetrySchedule, DelaysLieBetweenThirtySecondsAndTheDoublingTopOrAnHour) {
  EXPECT_TRUE(rc::check([](std::uint64_t draw) {
    const int failures = *rc::gen::inRange(1, 1000);
    Millis top = 30s;
    for (int i = 0; i < failures && top < 1h; ++i) top *= 2;
    const Millis delay = retry_delay(failures, draw);
    RC_ASSERT(delay >= 30s);
    RC_ASSERT(delay <= std::min<Millis>(top, 1h));
  }));
}

TEST(RetrySchedule, TheDrawReachesBothEnds) {
  EXPECT_EQ(retry_delay(1, 0), Millis(30s));
  EXPECT_EQ(retry_delay(1, 30'000), Millis(60s));
  EXPECT_EQ(retry_delay(1, 30'001), Millis(30s));
  EXPECT_EQ(retry_delay(50, 3'570'000), Millis(1h));
}

TEST(RetrySchedule, GivesUpAfterThreeDays) {
  EXPECT_EQ(next_retry(kStart, 90, kStart + 72h - 1ms, 0), kStart + 72h - 1ms + 30s);
  EXPECT_EQ(next_retry(kStart, 90, kStart + 72h, 0), std::nullopt);
}

}  // namespace
}  // namespace presetbridge::domain
