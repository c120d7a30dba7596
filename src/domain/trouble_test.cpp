#include "domain/trouble.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
using C = CallKind;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);
constexpr DeliveryId kA{1}, kB{2}, kC{3}, kD{4};
constexpr std::uint64_t kDraw = 12'345;

AccountTrouble failed(AccountTrouble account, C call, DeliveryId delivery, Timestamp now = kStart) {
  return after_failure(std::move(account), {}, call, delivery, now, kDraw).account;
}
AccountTrouble outage(C call = C::share, Timestamp now = kStart) {
  AccountTrouble t;
  for (const auto id : {kA, kB, kC}) t = failed(t, call, id, now);
  return t;
}

// ---------------------------------------------------------------- one customer's

TEST(FailingCall, IsTriedAgainForThreeDaysAndThenGivenUp) {
  std::optional<FailingCall> row;
  Timestamp now = kStart;
  int attempts = 0;
  while (true) {
    const auto after =
        after_failure({}, row, C::share, kA, now, kDraw * static_cast<std::uint64_t>(++attempts));
    row = after.customer;
    if (!after.retry_at) break;
    EXPECT_GE(*after.retry_at - now, 30s);
    EXPECT_LE(*after.retry_at - now, 1h);
    now = *after.retry_at;
  }
  EXPECT_GE(now - kStart, 72h);
  EXPECT_LT(now - kStart, 73h);
  EXPECT_EQ(row, std::nullopt) << "whoever resumes it gives it the whole time again";
}

TEST(FailingCall, EndsOnlyWithTheSuccessOfTheCallThatFailed) {
  auto row = after_failure({}, {}, C::share, kA, kStart, kDraw).customer;
  const FailingCalls rows{*row};
  for (const auto read : {C::find_user, C::friendship, C::find_share, C::list_changes, C::request_friendship})
    EXPECT_EQ(after_success(rows, read, kA), rows);
  // Another call that fails meanwhile is the same row's.
  row = after_failure({}, row, C::friendship, kA, kStart + 1h, kDraw).customer;
  EXPECT_EQ(row->call, C::share);
  EXPECT_EQ(row->since, kStart);
  EXPECT_EQ(row->failures, 2);
  EXPECT_EQ(after_success({*row}, C::friendship, kA), FailingCalls{*row});
  EXPECT_EQ(after_success({*row}, C::share, kB), FailingCalls{*row})
      << "what another order got is no progress";
  EXPECT_EQ(after_success({*row}, C::share, kA), FailingCalls{});
  row->call = C::find_user;
  EXPECT_EQ(after_success({*row}, C::find_user, kB), FailingCalls{}) << "the user is everybody's";
}

TEST(FailingCall, HasARowForEachDeliveryAndForItsRevocations) {
  const auto row_of = [](C call, DeliveryId id) {
    return FailingCall{.call = call, .delivery = id, .failures = 1, .since = kStart};
  };
  FailingCalls rows;
  EXPECT_TRUE(put_failing_row(rows, C::share, kA, row_of(C::share, kA)));
  EXPECT_TRUE(put_failing_row(rows, C::revoke, kA, row_of(C::revoke, kA)));
  EXPECT_TRUE(put_failing_row(rows, C::find_share, kB, row_of(C::find_share, kB)));
  EXPECT_EQ(failing_row(rows, C::find_share, kA), row_of(C::share, kA)) << "the first that failed";
  EXPECT_EQ(failing_row(rows, C::revoke, kA), row_of(C::revoke, kA));
  EXPECT_EQ(failing_row(rows, C::revoke, kB), std::nullopt);
  EXPECT_EQ(decode_failing_calls(encode(rows)), rows);
  EXPECT_TRUE(put_failing_row(rows, C::share, kA, std::nullopt));
  EXPECT_EQ(rows, (FailingCalls{row_of(C::revoke, kA), row_of(C::find_share, kB)}));
  for (int n = 10; rows.size() < kMostFailingCalls; ++n)
    EXPECT_TRUE(put_failing_row(rows, C::share, DeliveryId{n}, row_of(C::share, DeliveryId{n})));
  const auto full = rows;
  EXPECT_FALSE(put_failing_row(rows, C::share, kA, row_of(C::share, kA)));
  EXPECT_EQ(rows, full);
  EXPECT_TRUE(put_failing_row(rows, C::revoke, kA, row_of(C::revoke, kA))) << "known already";
  EXPECT_EQ(decode_failing_calls(encode(rows)), rows);
  for (const auto* damaged : {"share", "share 1 2", "share 1 2 3;", "share 1 2 3;share 1 2 3", "x 1 2 3",
                              "share 01 2 3", "share -1 2 3", "share 1 2 3 4"})
    EXPECT_EQ(decode_failing_calls(damaged), std::nullopt) << damaged;
}

TEST(FailingCall, DoesNotWaitLongerForAttemptsThatCameEarly) {
  auto row = after_failure({}, {}, C::share, kA, kStart, kDraw).customer;
  for (int i = 0; i < 20; ++i) row = after_failure({}, row, C::share, kA, kStart + 1s * i, kDraw).customer;
  EXPECT_EQ(row->failures, 1);
}

// ---------------------------------------------------------------- the account's

TEST(AccountTrouble, ThreeDifferentDeliveriesInARowAreAnOutageOfTheirCall) {
  auto t = failed({}, C::share, kA);
  t = failed(t, C::share, kA, kStart + 1s);
  t = failed(t, C::share, kB, kStart + 2s);
  t = failed(t, C::request_friendship, kC, kStart + 3s);
  EXPECT_FALSE(in_outage(t)) << "not of one call";
  const auto third = after_failure(t, {}, C::share, kC, kStart + 4s, kDraw);
  EXPECT_TRUE(third.paused);
  EXPECT_EQ(third.customer, std::nullopt) << "costs no try";
  EXPECT_TRUE(in_outage(third.account));
  EXPECT_EQ(failing_in_outage(third.account), (std::vector{kA, kB, kC}));
  EXPECT_EQ(next_job_at(third.account, kStart + 4s), kStart + 64s);
  EXPECT_EQ(next_sweep_at(third.account, kStart + 4s), kStart + 4s) << "sweeps go on";
}

TEST(AccountTrouble, ASuccessOfTheSameCallBetweenBreaksTheRow) {
  auto t = failed(failed({}, C::share, kA), C::share, kB);
  EXPECT_TRUE(in_outage(failed(after_success(t, C::friendship, kStart), C::share, kC)));
  t = after_success(t, C::share, kStart);
  EXPECT_EQ(t, AccountTrouble{});
  EXPECT_FALSE(in_outage(failed(t, C::share, kC)));
}

TEST(AccountTrouble, AnOutageIsProbedOnceAMinuteUntilTheSameCallSucceeds) {
  auto t = after_probe_started(outage(), kStart + 1min);
  EXPECT_EQ(next_job_at(t, kStart + 1min), kStart + 2min);
  t = failed(t, C::share, kA, kStart + 70s);
  EXPECT_EQ(next_job_at(t, kStart + 70s), kStart + 130s);
  for (const auto read : {C::find_user, C::friendship, C::find_share, C::list_changes})
    EXPECT_TRUE(in_outage(after_success(t, read, kStart + 2min)));
  EXPECT_EQ(after_success(t, C::share, kStart + 2min), AccountTrouble{});
}

TEST(AccountTrouble, EachSecondProbeOfAnOutageTakesOthersFirst) {
  EXPECT_FALSE(probe_takes_others({}, kStart));
  EXPECT_FALSE(probe_takes_others(outage(), kStart + 1min)) << "what failed comes first";
  EXPECT_TRUE(probe_takes_others(outage(), kStart + 2min));
  EXPECT_FALSE(probe_takes_others(outage(), kStart + 3min + 59s));
}

TEST(AccountTrouble, ProbesOfAnOutageTryAllThatFailedInTurn) {
  std::vector<std::size_t> turns;
  for (int minute = 1; minute < 9; minute += 2)
    turns.push_back(turn_of_probe(outage(), 3, kStart + std::chrono::minutes(minute)));
  EXPECT_EQ(turns, (std::vector<std::size_t>{0, 1, 2, 0}));
  EXPECT_EQ(turn_of_probe(outage(), 1, kStart + 5min), 0U);
  EXPECT_EQ(turn_of_probe(outage(), 3, kStart - 5min), 0U) << "of another node's clock";
  EXPECT_EQ(turn_of_probe({}, 3, kStart + 5min), 0U);
}

TEST(AccountTrouble, WhateverFailsInAnOutageCostsNoTry) {
  const auto after = after_failure(outage(C::share), {}, C::find_user, kD, kStart + 1min, kDraw);
  EXPECT_TRUE(after.paused);
  EXPECT_EQ(after.customer, std::nullopt);
}

TEST(AccountTrouble, A429LastsForItsRetryAfterWithinADay) {
  const auto limited = [](std::optional<Millis> wait) {
    return next_job_at(after_rate_limit({}, C::share, kA, wait, kStart), kStart);
  };
  EXPECT_EQ(limited(90s), kStart + 90s);
  EXPECT_EQ(limited(std::nullopt), kStart + 1min);
  EXPECT_EQ(limited(Millis(-5)), kStart + 1s);
  EXPECT_EQ(limited(Millis::max()), kStart + 24h);
  const auto t = after_rate_limit({}, C::share, kA, 1h, kStart);
  EXPECT_EQ(next_sweep_at(t, kStart), kStart + 1h) << "it is the account that is limited";
  EXPECT_EQ(next_job_at(after_success(t, C::share, kStart + 1s), kStart + 1s), kStart + 1h)
      << "of a call that was made before";
  EXPECT_EQ(after_success(t, C::share, kStart + 1h), AccountTrouble{});
  EXPECT_FALSE(in_outage(t));
}

TEST(AccountTrouble, EndsWithTheWorkThatSetIt) {
  const auto only_b = [](DeliveryId id) { return id == kB; };
  const auto none = [](DeliveryId) { return false; };
  auto t = without_gone(outage(), only_b, kStart);
  EXPECT_TRUE(in_outage(t));
  EXPECT_EQ(failing_in_outage(t), std::vector{kB});
  EXPECT_EQ(without_gone(t, none, kStart), AccountTrouble{});
  t = after_rate_limit({}, C::share, kA, 1h, kStart);
  EXPECT_EQ(next_job_at(without_gone(t, none, kStart), kStart), kStart + 1h) << "what was asked for holds";
  EXPECT_EQ(without_gone(t, none, kStart + 1h), AccountTrouble{});
}

TEST(AccountTrouble, IsGivenUpAfterThreeDaysFromWhenItWasTheAccounts) {
  auto t = failed(failed({}, C::share, kA, kStart - 48h), C::share, kB, kStart - 24h);
  t = failed(t, C::share, kC, kStart);
  EXPECT_EQ(given_up(t, kStart + 72h - 1ms), std::nullopt);
  EXPECT_EQ(given_up(t, kStart + 72h), kStart);
  EXPECT_TRUE(lasts(t, kStart));
  EXPECT_FALSE(lasts(after_success(t, C::share, kStart + 73h), kStart));
  EXPECT_EQ(given_up(failed({}, C::share, kA), kStart + 100h), std::nullopt) << "one delivery's own trouble";
  EXPECT_EQ(given_up(after_sweep_failure({}, kStart), kStart + 100h), std::nullopt) << "fails no delivery";
  t = after_rate_limit({}, C::share, kA, 24h, kStart);
  t = after_rate_limit(t, C::share, kA, 24h, kStart + 30h);
  EXPECT_EQ(given_up(t, kStart + 72h), kStart);
}

TEST(AccountTrouble, OfSweepsIsTheirsAlone) {
  auto t = after_sweep_failure({}, kStart);
  EXPECT_FALSE(in_outage(t));
  EXPECT_EQ(next_job_at(t, kStart), kStart);
  EXPECT_EQ(sweep_again_at(t, kStart), kStart + 1min);
  EXPECT_EQ(sweep_again_at(after_sweep_failure(t, kStart + 4min), kStart + 4min), kStart + 8min);
  EXPECT_EQ(sweep_again_at(t, kStart + 24h), kStart + 25h);
  EXPECT_EQ(after_success(t, C::list_changes, kStart), AccountTrouble{});
  EXPECT_TRUE(in_outage(after_success(outage(), C::list_changes, kStart)));
}

// ---------------------------------------------------------------- any course of things

// Spec 3.5 as a history: for each call its failures since its last success.
struct History {
  struct Of {
    std::vector<DeliveryId> row;
    bool outage = false;
  };
  std::map<C, Of> calls;
  bool outage() const {
    return std::ranges::any_of(calls, [](const auto& one) { return one.second.outage; });
  }
};

TEST(AccountTrouble, IsWhatItsHistorySays) {
  EXPECT_TRUE(rc::check([] {
    AccountTrouble account;
    std::optional<FailingCall> customer;
    History history;
    Timestamp now = kStart;
    std::set<DeliveryId> gone;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 8));
    for (const int what : steps) {
      now += Millis(*rc::gen::inRange(0, 100'000));
      const auto call = static_cast<C>(*rc::gen::inRange(0, 7));
      const DeliveryId delivery{*rc::gen::inRange(1, 7)};
      auto& its = history.calls[call];
      if (what <= 2) {
        gone.erase(delivery);
        const auto before = customer;
        const auto after =
            after_failure(account, customer, call, delivery, now, *rc::gen::arbitrary<std::uint64_t>());
        if (its.row.size() < 3 && std::ranges::find(its.row, delivery) == its.row.end())
          its.row.push_back(delivery);
        its.outage = its.outage || its.row.size() == 3;
        RC_ASSERT(after.paused == history.outage());
        if (after.paused) {
          RC_ASSERT(after.customer == before);
          RC_ASSERT(!after.retry_at);
          RC_ASSERT(next_job_at(after.account, now) >= now + 1min);
        } else if (after.retry_at) {
          RC_ASSERT(after.customer && after.customer->since <= now);
          RC_ASSERT(*after.retry_at - now >= 30s && *after.retry_at - now <= 1h);
        }
        account = after.account;
        customer = after.customer;
      } else if (what == 3) {
        account = after_success(account, call, now);
        const auto rows = after_success(customer ? FailingCalls{*customer} : FailingCalls{}, call,
                                        customer ? customer->delivery : DeliveryId{});
        customer = rows.empty() ? std::nullopt : std::optional(rows.front());
        its = {};
        RC_ASSERT(!customer || customer->call != call);
      } else if (what == 4) {
        gone.insert(delivery);
        account = without_gone(account, [&](DeliveryId id) { return !gone.contains(id); }, now);
        for (auto& [kind, of] : history.calls) {
          std::erase_if(of.row, [&](DeliveryId id) { return gone.contains(id); });
          if (of.row.empty()) of.outage = false;
        }
      } else if (what == 5) {
        account = after_sweep_failure(account, now);
      } else if (what == 6) {
        account = after_success(account, C::list_changes, now);
      } else {
        account = after_probe_started(account, now);
      }
      RC_ASSERT(in_outage(account) == history.outage());
      RC_ASSERT(decode_account_trouble(encode(account)) == account);
      RC_ASSERT(next_job_at(account, now) >= next_sweep_at(account, now));
      for (const auto& one : account.calls) {
        RC_ASSERT(one.deliveries.size() <= 3u);
        if (one.call != C::list_changes) RC_ASSERT(one.deliveries == history.calls[one.call].row);
      }
    }
  }));
}

TEST(AccountTrouble, IsReadBackFromItsText) {
  EXPECT_TRUE(rc::check([] {
    AccountTrouble account;
    Timestamp now = kStart;
    for (const int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
      now += Millis(*rc::gen::inRange(0, 100'000'000));
      const auto call = static_cast<C>(*rc::gen::inRange(0, 8));
      const DeliveryId delivery{*rc::gen::inRange(0, 6)};
      if (what == 0 && call != C::list_changes) account = failed(account, call, delivery, now);
      if (what == 1)
        account = after_rate_limit(account, call, delivery, Millis(*rc::gen::arbitrary<int>()), now);
      if (what == 2) account = after_success(account, call, now);
      if (what == 3) account = after_sweep_failure(account, now);
      RC_ASSERT(decode_account_trouble(encode(account)) == account);
      RC_ASSERT(next_sweep_at(account, now) - now <= 24h);
    }
  }));
}

TEST(AccountTrouble, RefusesOtherText) {
  for (const char* text : {"0",
                           "x",
                           "0;",
                           "0;share",
                           "0;share 0 0",
                           "0;share 0 0 0",
                           "0;share 1 0 0 1 2 3 4",
                           "0;share 0 0 5 1",
                           "00;share 0 0 0 1",
                           "0;share 0 0 0 1;",
                           "0;share 0 0 0 1 1",
                           "0;share 0 0 0 0",
                           "0;share 0 0 0  1",
                           "5;share 0 0 0 1",
                           "0;share 0 0 0 1;find_user 0 0 0 1",
                           "0;share 0 0 0 1;share 0 0 0 2",
                           "0;dance 0 0 0 1",
                           "0;list_changes 0 0 0 1",
                           "0;share -1 0 0 1",
                           "1;share 1 0 0 01",
                           " 0;share 0 0 0 1",
                           "-0;share 0 0 0 1"}) {
    EXPECT_EQ(decode_account_trouble(text), std::nullopt) << text;
  }
  EXPECT_EQ(decode_account_trouble(""), AccountTrouble{});
  EXPECT_TRUE(decode_account_trouble("0;share 0 0 0 1"));
}

}  // namespace
}  // namespace presetbridge::domain
