#include "domain/sweep_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);

// Spec 3.5 on a sweep at `t`, as a naive rule: may it take place, the last one having been at
// `last`?
bool allowed(const SweepState& s, Timestamp t) {
  const Millis age = t - *s.newest_request_at;
  Millis interval = 1h;
  if (s.queued > 50) {
    interval = 5min;
  } else if (age < 10min) {
    interval = 1min;
  } else if (age < 1h) {
    interval = 5min;
  } else if (age < 24h) {
    interval = 15min;
  }
  return t - *s.last_sweep_at >= interval;
}

TEST(SweepSchedule, IsTheFirstMinuteThatTheRuleAllows) {
  EXPECT_TRUE(rc::check([] {
    const SweepState state{
        .awaited = true,
        .queued = *rc::gen::element<std::int64_t>(0, 50, 51, 1000),
        .newest_request_at = kStart + std::chrono::minutes(*rc::gen::inRange(0, 3000)),
        .last_sweep_at = kStart + std::chrono::minutes(*rc::gen::inRange(0, 3000)),
    };
    Timestamp naive = *state.last_sweep_at;
    while (!allowed(state, naive)) naive += 1min;
    RC_ASSERT(next_sweep(state) == naive);
  }));
}

TEST(SweepSchedule, NothingAwaitedMeansNoSweep) {
  EXPECT_EQ(next_sweep({.newest_request_at = kStart}), std::nullopt);
  EXPECT_EQ(next_sweep({.awaited = true}), std::nullopt);
}

TEST(SweepSchedule, AWaitWhoseRequestIsNotKnownIsSweptEachHour) {
  EXPECT_EQ(next_sweep({.awaited = true, .last_sweep_at = kStart}), kStart + std::chrono::hours{1});
}

TEST(SweepSchedule, TheFirstSweepIsDueAtOnceAndIsFull) {
  const SweepState state{.awaited = true, .newest_request_at = kStart};
  EXPECT_EQ(next_sweep(state), kStart);
  EXPECT_TRUE(full_sweep_due(state, kStart));
}

TEST(SweepSchedule, AFullSweepIsDueADayAfterTheLast) {
  const SweepState state{.awaited = true, .last_full_sweep_at = kStart};
  EXPECT_FALSE(full_sweep_due(state, kStart + 24h - 1ms));
  EXPECT_TRUE(full_sweep_due(state, kStart + 24h));
}

}  // namespace
}  // namespace presetbridge::domain
