// The limit of requests of a key in an hour, and what its checks cost (spec 8.6).
#include "services/accounts/key_admissions.h"

#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>

#include "services/accounts/api_keys_testing.h"
#include "storage/stores/activity_store.h"

namespace presetbridge::services {
namespace {

using testing::ApiKeysTest;

TEST_F(ApiKeysTest, AHundredRequestsAnHourAndRefusalsDoNotExtendTheWindow) {
  const auto issued = create(ann_);
  for (int i = 0; i < 100; ++i) {
    const auto check = admit(issued.secret);
    ASSERT_TRUE(check.principal) << i;
    EXPECT_EQ(check.rate->remaining, 99 - i);
    world_.clock().advance(std::chrono::seconds{1});
  }
  for (int i = 0; i < 3; ++i) {
    const auto check = admit(issued.secret);
    ASSERT_FALSE(check.principal);
    EXPECT_EQ(check.principal.error(), (Error{"RATE_LIMIT_EXCEEDED", "Rate limit exceeded", {}}));
    EXPECT_EQ(check.rate->retry_after, std::chrono::seconds{3500});
  }
  world_.clock().advance(Millis{3'499'999});
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code(issued.secret), "ok");
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED") << "one left the window, one came";
  EXPECT_EQ(read(issued.key.id).requests, 101);
}

TEST_F(ApiKeysTest, AThousandRefusedRequestsOfAKeyInASecondAreOneUnitOfWork) {
  const auto inactive = create(ann_);
  ASSERT_TRUE(change(ann_, inactive.key.id, {.active = false}));
  const auto limited = create(ann_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(code(limited.secret), "ok");
  EXPECT_EQ(code(limited.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  const auto before = units();
  for (int i = 1; i < 1'000; ++i) {
    world_.clock().advance(Millis{1});
    ASSERT_EQ(code(limited.secret), "RATE_LIMIT_EXCEEDED");
    ASSERT_EQ(code(inactive.secret), "FORBIDDEN");
  }
  EXPECT_EQ(units() - before, 0U);
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  EXPECT_EQ(code(limited.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(units() - before, 2U);

  spawn(keys_.limited().flush(world_.scheduler), [](const auto&) {});
  world_.scheduler.run();
  std::int64_t counted = 0;
  world_.db->read([&](storage::Tx& tx) {
    counted = 0;
    const auto now = world_.clock().now();
    const auto today = std::chrono::floor<std::chrono::days>(now);
    const auto kind = static_cast<std::int64_t>(storage::Activity::limited);
    storage::find_activity(tx,
                           {.account = ann_.account,
                            .from = today,
                            .to = today + std::chrono::days{1},
                            .first_day = today,
                            .end_day = today,
                            .first_kind = kind,
                            .last_kind = kind},
                           [&](const storage::ActivitySum& sum) { counted += sum.amount; });
  });
  EXPECT_EQ(counted, 1'001) << "the usage has every request over the limit";
}

TEST_F(ApiKeysTest, ARefusalThatIsRememberedCountsDownAndEndsWhenTheLimitAdmitsAgain) {
  const auto issued = create(ann_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(code(issued.secret), "ok");
  world_.clock().advance(std::chrono::hours{1} - Millis{700});
  ASSERT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  const auto before = units();
  for (const int left : {500, 100, 1}) {
    world_.clock().advance(admit(issued.secret).rate->retry_after - Millis{left});
    const auto check = admit(issued.secret);
    ASSERT_FALSE(check.principal);
    EXPECT_EQ(check.rate->retry_after, Millis{left});
    EXPECT_EQ(check.rate->reset_after, Millis{left});
    EXPECT_EQ(check.rate->remaining, 0);
  }
  EXPECT_EQ(units() - before, 0U);
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code(issued.secret), "ok");
}

TEST_F(ApiKeysTest, AClockThatIsSetBackDuringACheckProlongsNoRefusal) {
  const auto inactive = create(ann_);
  ASSERT_TRUE(change(ann_, inactive.key.id, {.active = false}));
  world_.async_db.submit([](storage::Tx&) {},
                         [&](const std::exception_ptr&, storage::Completions&) {
                           spawn(keys_.admit(world_.scheduler, inactive.secret), [](const auto&) {});
                           world_.clock().advance(-std::chrono::hours{1});
                         });
  world_.scheduler.run();
  const auto before = units();
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  EXPECT_EQ(units() - before, 0U);
  world_.clock().advance(KeyAdmissions::kRemembered);
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  EXPECT_EQ(units() - before, 1U);
}

TEST_F(ApiKeysTest, AKeyThatIsChangedIsGoodAtOnceHereAndASecondLaterOnOtherNodes) {
  const auto issued = create(ann_);
  ApiKeys other(world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {});
  const auto code_there = [&] {
    const auto check = world_.await(other.admit(world_.scheduler, issued.secret));
    return check.principal ? "ok" : check.principal.error().code;
  };
  ASSERT_TRUE(change(ann_, issued.key.id, {.active = false}));
  EXPECT_EQ(code(issued.secret), "FORBIDDEN");
  EXPECT_EQ(code_there(), "FORBIDDEN");
  ASSERT_TRUE(change(ann_, issued.key.id, {.active = true}));
  EXPECT_EQ(code(issued.secret), "ok");
  world_.clock().advance(KeyAdmissions::kRemembered - Millis{1});
  EXPECT_EQ(code_there(), "FORBIDDEN");
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code_there(), "ok");

  for (int i = 0; i < 98; ++i) ASSERT_EQ(code(issued.secret), "ok");
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  ASSERT_TRUE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 101)));
  EXPECT_EQ(code(issued.secret), "ok");
}

TEST_F(ApiKeysTest, RequestsOfAKeyThatComeTogetherShareUnitsAndExactlyItsLimitIsAdmitted) {
  const auto issued = create(ann_);
  const auto before = units();
  const auto checks = admit_together(issued.secret, 150);
  std::vector<std::int64_t> left;
  for (const auto& check : checks) {
    if (check.principal) left.push_back(check.rate->remaining);
  }
  std::vector<std::int64_t> expected(100);
  std::iota(expected.rbegin(), expected.rend(), 0);
  EXPECT_EQ(left, expected);
  EXPECT_EQ(std::ranges::count_if(checks,
                                  [](const KeyCheck& check) {
                                    return !check.principal &&
                                           check.principal.error().code == "RATE_LIMIT_EXCEEDED";
                                  }),
            50);
  // That of admit_together(), one request, four times 32 at most, and the count of those over the limit.
  EXPECT_EQ(units() - before, 7U);
  EXPECT_EQ(read(issued.key.id).requests, 100);
}

TEST_F(ApiKeysTest, RequestsThatWaitForAKeyAreBoundedAndTheRestCountInNoHour) {
  const auto issued = create(ann_);
  ASSERT_TRUE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 10'000)));
  const auto checks = admit_together(issued.secret, KeyAdmissions::kMostWaiting + 5);
  EXPECT_EQ(std::ranges::count_if(checks,
                                  [](const KeyCheck& check) {
                                    return !check.principal && check.principal.error().code == "OVERLOADED" &&
                                           !check.rate;
                                  }),
            5);
  EXPECT_EQ(read(issued.key.id).requests, std::ssize(checks) - 5);
}

TEST_F(ApiKeysTest, TheWindowOutlivesARestartAndIsTheKeysOwn) {
  const auto first = create(ann_);
  const auto second = create(ann_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(code(first.secret), "ok");
  ApiKeys restarted(world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {});
  EXPECT_FALSE(world_.await(restarted.admit(world_.scheduler, first.secret)).principal);
  EXPECT_TRUE(world_.await(restarted.admit(world_.scheduler, second.secret)).principal);
}

TEST_F(ApiKeysTest, NoRollingHourAdmitsMoreThanTheLimit) {
  EXPECT_TRUE(rc::check("admitted requests in every window are at most the limit", [this] {
    const auto limit = *rc::gen::inRange<std::int64_t>(1, 12);
    const Millis window{*rc::gen::inRange(1, 2000)};
    ApiKeys keys(world_.async_db, world_.ids, world_.random, world_.clock(), world_.log,
                 {.rate_limit = limit, .rate_window = window, .max_active = 1'000'000});
    const auto secret = world_.await(keys.create(world_.scheduler, ann_, {.name = "p"})).value().secret;
    std::deque<Timestamp> admitted;
    for (const auto step : *rc::gen::container<std::vector<int>>(30, rc::gen::inRange(0, 400))) {
      world_.clock().advance(Millis{step});
      const auto now = world_.clock().now();
      while (!admitted.empty() && admitted.front() <= now - window) admitted.pop_front();
      const bool ok = world_.await(keys.admit(world_.scheduler, secret)).principal.has_value();
      // Exact both ways: no more than the limit, and nothing refused that fits.
      RC_ASSERT(ok == (std::ssize(admitted) < limit));
      if (ok) admitted.push_back(now);
    }
  }));
}

TEST_F(ApiKeysTest, TheOperatorRaisesALimit) {
  const auto issued = create(ann_);
  ASSERT_TRUE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 101)));
  for (int i = 0; i < 101; ++i) ASSERT_EQ(code(issued.secret), "ok");
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_FALSE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 0)));
}

TEST_F(ApiKeysTest, ARateLogThatCannotBeReadCountsAsFullAndIsLogged) {
  const auto key = create(ann_);
  const std::array<std::byte, 3> torn{};
  world_.db->write([&](storage::Tx& tx) { storage::replace_api_key_rate_log(tx, key.key.id, torn); });
  EXPECT_EQ(code(key.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_TRUE(world_.log.text.contains("key=" + to_string(key.key.id))) << world_.log.text;
  EXPECT_FALSE(world_.log.text.contains(key.secret));
  world_.log.text.clear();
  world_.clock().advance(std::chrono::minutes{59});
  EXPECT_EQ(code(key.secret), "RATE_LIMIT_EXCEEDED");
  world_.clock().advance(std::chrono::minutes{1});
  EXPECT_EQ(code(key.secret), "ok");
  EXPECT_EQ(world_.log.text, "");
}

}  // namespace
}  // namespace presetbridge::services
