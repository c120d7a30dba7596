#include "domain/send_schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);

TEST(SendSchedule, SixRetriesFollowTheFirstSend) {
  const std::vector<Millis> delays = {1min, 5min, 15min, 1h, 6h, 24h};
  for (std::size_t i = 0; i < delays.size(); ++i) {
    EXPECT_EQ(next_send(static_cast<int>(i) + 1, kStart), kStart + delays[i]);
  }
  EXPECT_EQ(next_send(7, kStart), std::nullopt);
  EXPECT_EQ(next_send(0, kStart), std::nullopt);
  EXPECT_EQ(next_send(1'000'000, kStart), std::nullopt);
}

TEST(SendSchedule, ClassifiesEveryStatus) {
  for (int status = -1; status <= 1000; ++status) {
    SendVerdict expected = SendVerdict::permanent;
    if (status < 200 || status >= 600 || status >= 500 || status == 408 || status == 429)
      expected = SendVerdict::retry;
    if (status >= 200 && status <= 299) expected = SendVerdict::success;
    if (status == 410) expected = SendVerdict::gone;
    EXPECT_EQ(classify_send(SendFailure::none, status), expected) << status;
  }
}

TEST(SendSchedule, ABrokenConnectionIsRetriedAndADeniedTargetIsNot) {
  EXPECT_EQ(classify_send(SendFailure::transport, 200), SendVerdict::retry);
  EXPECT_EQ(classify_send(SendFailure::denied, 200), SendVerdict::permanent);
}

}  // namespace
}  // namespace presetbridge::domain
