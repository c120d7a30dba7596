#include "domain/account_pause.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);
constexpr DeliveryId kA{1}, kB{2}, kC{3}, kD{4};

AccountPause outage(Timestamp at = kStart) {
  AccountPause p;
  for (const DeliveryId d : {kA, kB, kC}) p = after_transient_failure(p, d, at);
  return p;
}

TEST(AccountPause, ThreeDifferentDeliveriesInARowAreAnOutage) {
  AccountPause p = after_transient_failure({}, kA, kStart);
  p = after_transient_failure(p, kA, kStart + 1s);
  p = after_transient_failure(p, kA, kStart + 2s);
  p = after_transient_failure(p, kB, kStart + 3s);
  EXPECT_FALSE(paused(p, kStart + 3s));
  p = after_transient_failure(p, kC, kStart + 4s);
  EXPECT_EQ(p.reason, PauseReason::outage);
  EXPECT_TRUE(paused(p, kStart + 4s));
  EXPECT_EQ(p.since, kStart);
}

TEST(AccountPause, ASuccessBetweenBreaksTheRow) {
  AccountPause p = after_transient_failure({}, kA, kStart);
  p = after_transient_failure(p, kB, kStart);
  p = after_success(p);
  EXPECT_EQ(p, AccountPause{});
  p = after_transient_failure(p, kC, kStart);
  EXPECT_EQ(p.reason, PauseReason::none);
}

TEST(AccountPause, AnOutageIsProbedOnceAMinuteUntilASuccess) {
  AccountPause p = outage();
  EXPECT_TRUE(paused(p, kStart + 1min - 1ms));
  EXPECT_EQ(next_job_at(p, kStart), kStart + 1min);
  EXPECT_FALSE(paused(p, kStart + 1min));
  p = after_probe_started(p, kStart + 1min);
  EXPECT_TRUE(paused(p, kStart + 1min)) << "only one probe a minute";
  p = after_transient_failure(p, kD, kStart + 1min + 10s);
  EXPECT_EQ(next_job_at(p, kStart + 1min + 10s), kStart + 2min + 10s);
  EXPECT_EQ(after_success(p), AccountPause{});
}

TEST(AccountPause, ARateLimitLastsForItsRetryAfterWithinADay) {
  EXPECT_EQ(next_job_at(after_rate_limit({}, 90s, kStart), kStart), kStart + 90s);
  EXPECT_EQ(next_job_at(after_rate_limit({}, std::nullopt, kStart), kStart), kStart + 1min);
  EXPECT_EQ(next_job_at(after_rate_limit({}, Millis(-5), kStart), kStart), kStart + 1s);
  EXPECT_EQ(next_job_at(after_rate_limit({}, Millis::max(), kStart), kStart), kStart + 24h);
  EXPECT_EQ(next_job_at(after_rate_limit({}, 90s, kStart), kStart + 2min), kStart + 2min);
}

TEST(AccountPause, ARefusedLoginEndsOnlyWithSavedCredentials) {
  AccountPause p = after_login_refused(outage(), kStart);
  EXPECT_EQ(next_job_at(p, kStart + 10'000h), std::nullopt);
  EXPECT_TRUE(paused(p, kStart + 10'000h));
  EXPECT_EQ(after_success(p), p);
  EXPECT_EQ(after_rate_limit(p, 1s, kStart), p);
  EXPECT_EQ(after_transient_failure(p, kA, kStart), p);
  EXPECT_FALSE(given_up(p, kStart + 100h)) << "that is credentials_invalid, not cloud_unavailable";
  EXPECT_EQ(after_credentials_saved(p), AccountPause{});
  EXPECT_EQ(after_credentials_saved(outage()), outage()) << "a new login does not bring the platform back";
}

TEST(AccountPause, IsGivenUpAfterThreeDaysOfUnbrokenTrouble) {
  AccountPause p = outage();
  EXPECT_FALSE(given_up(p, kStart + 72h - 1ms));
  EXPECT_TRUE(given_up(p, kStart + 72h));
  p = after_rate_limit(p, 1s, kStart + 71h);
  EXPECT_TRUE(given_up(p, kStart + 72h)) << "another sort of trouble does not start it anew";
  EXPECT_FALSE(given_up(after_transient_failure({}, kA, kStart), kStart + 100h));
}

TEST(AccountPause, IsReadBackFromItsText) {
  EXPECT_TRUE(rc::check([] {
    AccountPause p;
    Timestamp now = kStart;
    for (const int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
      now += Millis(*rc::gen::inRange(0, 100'000));
      const DeliveryId delivery{*rc::gen::inRange(1, 6)};
      if (what == 0) p = after_transient_failure(p, delivery, now);
      if (what == 1) p = after_rate_limit(p, Millis(*rc::gen::arbitrary<int>()), now);
      if (what == 2) p = after_login_refused(p, now);
      if (what == 3) p = after_credentials_saved(p);
      if (what == 4) p = after_success(p);
      if (what == 5) p = after_probe_started(p, now);
      RC_ASSERT(p.failing.size() <= 3u);
      RC_ASSERT(decode_account_pause(encode(p)) == p);
      if (const auto next = next_job_at(p, now)) {
        RC_ASSERT(*next >= now);
        RC_ASSERT(!paused(p, *next));
      }
    }
  }));
}

TEST(AccountPause, RefusesOtherText) {
  for (const char* text : {"", "0", "0 0", "0 0 ", "9 0 0", "-1 0 0", "0 0 0 1 2 3 4", "0 0 x", "0  0 0",
                           "0 0 0 ", "00 0 0", "0 0 0 01", "0 -0 0", "2 -1 0", "2 0 -9223372036854775808"}) {
    EXPECT_EQ(decode_account_pause(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace presetbridge::domain
