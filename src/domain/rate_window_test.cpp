#include "domain/rate_window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);

TEST(RateWindow, NoSpanEverHoldsMoreThanTheLimitAndNothingIsRefusedWithoutNeed) {
  EXPECT_TRUE(rc::check([] {
    const std::int64_t limit = *rc::gen::inRange(1, 8);
    RateWindow window(limit, 60s);
    std::vector<Timestamp> admitted;
    Timestamp now = kStart;
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20'000))) {
      now += Millis(step);
      const auto recent = std::ranges::count_if(admitted, [&](Timestamp t) { return t > now - 60s; });
      const Admission admission = window.admit(now);
      RC_ASSERT(admission.allowed == (recent < limit));
      if (admission.allowed) admitted.push_back(now);
      RC_ASSERT(admission.remaining == limit - recent - (admission.allowed ? 1 : 0));
      RC_ASSERT(admission.reset_after == admitted.back() + 60s - now);
      const auto next = window.next_free(now);
      RC_ASSERT(next.has_value());
      RC_ASSERT(admission.retry_after == *next - now);
      // Free exactly then, and not a millisecond earlier.
      RC_ASSERT(window.peek(*next).allowed);
      if (*next > now) RC_ASSERT(!window.peek(*next - 1ms).allowed);
    }
  }));
}

TEST(RateWindow, IsReadBackFromItsBytes) {
  EXPECT_TRUE(rc::check([] {
    const std::int64_t limit = *rc::gen::inRange(0, 8);
    RateWindow window(limit, 60s);
    Timestamp now = kStart;
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20'000))) {
      now += Millis(step);
      auto copy = RateWindow::decode(limit, 60s, window.encode());
      RC_ASSERT(copy.has_value());
      const Admission a = window.admit(now), b = copy->admit(now);
      RC_ASSERT(a.allowed == b.allowed);
      RC_ASSERT(a.remaining == b.remaining);
      RC_ASSERT(window.encode() == copy->encode());
      RC_ASSERT(std::ssize(window.encode()) <= 8 * limit);
    }
  }));
}

TEST(RateWindow, WritesLittleEndianMillisecondsOldestFirst) {
  RateWindow window(5, 60s);
  window.admit(from_unix_ms(0x0102030405060708));
  window.admit(from_unix_ms(0x0102030405060709));
  const std::vector<std::byte> bytes = window.encode();
  ASSERT_EQ(bytes.size(), 16u);
  EXPECT_EQ(bytes[0], std::byte{0x08});
  EXPECT_EQ(bytes[7], std::byte{0x01});
  EXPECT_EQ(bytes[8], std::byte{0x09});
}

TEST(RateWindow, RefusedRequestsDoNotExtendIt) {
  RateWindow window(1, 60s);
  EXPECT_TRUE(window.admit(kStart).allowed);
  for (int s = 1; s < 60; ++s) EXPECT_FALSE(window.admit(kStart + std::chrono::seconds(s)).allowed);
  EXPECT_TRUE(window.admit(kStart + 60s).allowed);
}

// Real time against a clock that is set about: what counts is that no real span holds more than the limit.
TEST(RateWindow, AClockThatIsSetBackNeverOpensIt) {
  EXPECT_TRUE(rc::check([] {
    const std::int64_t limit = *rc::gen::inRange(1, 5);
    RateWindow window(limit, 60s);
    std::vector<Millis> admitted;
    Millis real{0};
    Millis wrong{0};
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 30'000))) {
      real += Millis(step);
      if (*rc::gen::inRange(0, 4) == 0) wrong -= Millis(*rc::gen::inRange(0, 120'000));
      if (!window.admit(kStart + real + wrong).allowed) continue;
      admitted.push_back(real);
      RC_ASSERT(std::ranges::count_if(admitted, [&](Millis t) { return t > real - 60s; }) <= limit);
    }
  }));
}

TEST(RateWindow, OneThatWasOvertakenDoesNotShortenTheStayOfTheOther) {
  RateWindow window(2, 60s);
  EXPECT_TRUE(window.admit(kStart + 3ms).allowed);
  EXPECT_TRUE(window.admit(kStart).allowed);
  EXPECT_FALSE(window.admit(kStart + 60s + 2ms).allowed);
  EXPECT_TRUE(window.admit(kStart + 60s + 3ms).allowed);
  ASSERT_TRUE(RateWindow::decode(2, 60s, window.encode()));
}

TEST(RateWindow, AClockThatHadRunAheadShutsItForOneWindowAtMost) {
  RateWindow window(1, 60s);
  EXPECT_TRUE(window.admit(kStart + 10'000h).allowed);
  EXPECT_FALSE(window.admit(kStart).allowed);
  EXPECT_EQ(window.next_free(kStart), kStart + 60s);
  EXPECT_TRUE(window.admit(kStart + 60s).allowed);
}

TEST(RateWindow, ALoweredLimitWaitsUntilEnoughHaveLeft) {
  RateWindow wide(3, 60s);
  for (int s = 0; s < 3; ++s) wide.admit(kStart + std::chrono::seconds(s));
  auto narrow = RateWindow::decode(1, 60s, wide.encode());
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->admit(kStart + 3s).remaining, 0);
  EXPECT_EQ(narrow->next_free(kStart + 3s), kStart + 62s);
}

TEST(RateWindow, WhatIsGivenBackIsFreeAgainOnce) {
  const auto start = from_unix_ms(1'000'000);
  RateWindow window(2, Millis{1'000});
  window.admit(start);
  window.admit(start + Millis{10});
  window.give_back(start + Millis{10});
  window.give_back(start + Millis{10});
  EXPECT_TRUE(window.admit(start + Millis{20}).allowed);
  EXPECT_FALSE(window.admit(start + Millis{30}).allowed);
}

TEST(RateWindow, WhatWasOvertakenIsGivenBackToo) {
  RateWindow window(2, 60s);
  EXPECT_TRUE(window.admit(kStart + 3ms).allowed);
  EXPECT_TRUE(window.admit(kStart).allowed);
  window.give_back(kStart);
  EXPECT_EQ(window.peek(kStart + 4ms).remaining, 1);
}

TEST(RateWindow, WithLimitZeroNothingIsEverAllowed) {
  RateWindow window(0, 60s);
  EXPECT_FALSE(window.admit(kStart).allowed);
  EXPECT_EQ(window.next_free(kStart), std::nullopt);
  EXPECT_EQ(window.peek(kStart).retry_after, Millis(60s));
}

TEST(RateWindow, RefusesBytesThatItDidNotWrite) {
  EXPECT_FALSE(RateWindow::decode(5, 60s, std::vector<std::byte>(7)));
  EXPECT_FALSE(RateWindow::decode(5, 60s, std::vector<std::byte>(8 * 100'001)));
  std::vector<std::byte> descending(16);
  descending[0] = std::byte{2};
  descending[8] = std::byte{1};
  EXPECT_FALSE(RateWindow::decode(5, 60s, descending));
  EXPECT_TRUE(RateWindow::decode(5, 60s, {}));
}

}  // namespace
}  // namespace presetbridge::domain
