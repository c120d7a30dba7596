#include "domain/attempt_schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);

TEST(AttemptSchedule, SixRetriesFollowTheFirstAttempt) {
  const std::vector<Millis> delays = {1min, 5min, 15min, 1h, 6h, 24h};
  for (std::size_t i = 0; i < delays.size(); ++i) {
    EXPECT_EQ(next_attempt(static_cast<int>(i) + 1, kStart), kStart + delays[i]);
  }
  EXPECT_EQ(next_attempt(7, kStart), std::nullopt);
  EXPECT_EQ(next_attempt(0, kStart), std::nullopt);
  EXPECT_EQ(next_attempt(1'000'000, kStart), std::nullopt);
}

TEST(AttemptSchedule, ClassifiesEveryStatus) {
  for (int status = -1; status <= 1000; ++status) {
    AttemptVerdict expected = AttemptVerdict::permanent;
    if (status < 200 || status >= 600 || status >= 500 || status == 408 || status == 429)
      expected = AttemptVerdict::retry;
    if (status >= 200 && status <= 299) expected = AttemptVerdict::success;
    if (status == 410) expected = AttemptVerdict::gone;
    EXPECT_EQ(classify_attempt(AttemptFailure::none, status), expected) << status;
  }
}

TEST(AttemptSchedule, ABrokenConnectionIsRetriedAndADeniedTargetIsNot) {
  EXPECT_EQ(classify_attempt(AttemptFailure::transport, 200), AttemptVerdict::retry);
  EXPECT_EQ(classify_attempt(AttemptFailure::denied, 200), AttemptVerdict::permanent);
}

}  // namespace
}  // namespace presetbridge::domain
