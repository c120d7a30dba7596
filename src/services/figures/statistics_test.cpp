// Figures against a scan of all deliveries, over random histories that the service itself lives through.
#include "services/figures/statistics.h"

#include <gtest/gtest.h>

#include <random>

#include "services/figures/overview.h"
#include "services/testing.h"
#include "storage/stores/delivery_work.h"

namespace presetbridge::services {
namespace {

using domain::Bucket;
using domain::DeliveryStatus;
using domain::TimeBuckets;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using testing::World;

class StatisticsTest : public ::testing::Test {
 protected:
  StatisticsTest() { world_.cloud.auto_accept = false; }

  std::vector<storage::DeliveryRow> all() {
    return world_.write([&](storage::Tx& tx) {
      return find_deliveries(tx, find_deliveries_after(tx, world_.account, {}, 10'000));
    });
  }
  TimeBuckets period(Bucket bucket, const char* zone, Millis back) {
    const auto now = world_.database.clock.now();
    return {TimeZone::find(zone).value(), bucket, now - back, now + Millis{1}};
  }
  Overview overview(const char* zone = "UTC") {
    return world_.await(overviews_.get(world_.scheduler, world_.merchant(), TimeZone::find(zone).value(), {}))
        .value();
  }
  std::vector<std::string> needs() {
    std::vector<std::string> kinds;
    for (const auto& need : overview().needs) {
      std::string kind(kNeedKindNames[static_cast<std::size_t>(need.kind)]);
      if (!need.code.empty()) kind += " " + need.code;
      kinds.push_back(kind + " " + std::to_string(need.count));
    }
    return kinds;
  }

  // Some hours of a shop: orders of buyers who accept, or not, or have no name; the merchant reopens,
  // approves, stops and retries.
  void live(int steps) {
    auto& w = world_;
    for (int step = 0; step < steps; ++step) {
      w.settle(minutes{draw_() % 90});
      const auto rows = all();
      if (rows.empty() || draw_() % 2 == 0) {
        const std::string id = std::to_string(++last_);
        w.deliver(w.order(id, draw_() % 5 == 0 ? "" : "buyer" + std::to_string(draw_() % 20), {"sku-1"}));
        continue;
      }
      const auto& row = rows[draw_() % rows.size()];
      const auto by = w.merchant();
      switch (draw_() % 6) {
        case 0:
          w.cloud.accept("u-buyer" + std::to_string(draw_() % 20));
          break;
        case 1:
          (void)w.await(w.actions.reopen(w.scheduler, by, row.id));
          break;
        case 2:
          (void)w.await(w.actions.approve(w.scheduler, by, row.id));
          break;
        case 3:
          (void)w.await(w.actions.invalidate(w.scheduler, by, row.id, "no more"));
          break;
        case 4:
          (void)w.await(w.actions.retry(w.scheduler, by, row.id, "buyer" + std::to_string(draw_() % 20)));
          break;
        case 5:
          (void)w.await(w.actions.complete(w.scheduler, by, row.id));
          break;
      }
    }
    w.settle(minutes{5});
  }

  void expect_deliveries(const TimeBuckets& buckets) {
    const auto found =
        world_.await(statistics_.deliveries(world_.scheduler, world_.merchant(), buckets, {})).value();
    std::vector<Outcomes> scanned(buckets.size());
    for (const auto& row : all()) {
      const auto place = buckets.of(row.created_at);
      if (!place) continue;
      auto& here = scanned[*place];
      ++here.made;
      here.completed += row.status == DeliveryStatus::completed ? 1 : 0;
      here.failed += row.status == DeliveryStatus::failed ? 1 : 0;
      here.invalidated += row.status == DeliveryStatus::invalidated ? 1 : 0;
    }
    EXPECT_EQ(found.data, scanned);
  }

  World world_;
  LimitedRequests limited_{world_.async_db};
  Statistics statistics_{world_.async_db, limited_};
  Overviews overviews_{world_.async_db, {.jobs_per_minute = 5, .credits_low_at = 10}};
  std::mt19937 draw_{2026};
  int last_ = 0;
};

TEST_F(StatisticsTest, FiguresAreWhatAScanOfAllDeliveriesCounts) {
  live(70);
  testing::expect_activity_is_right(world_);
  for (const auto* zone : {"UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"}) {
    expect_deliveries(period(Bucket::day, zone, days{40}));
    expect_deliveries(period(Bucket::hour, zone, days{3}));
  }
  const auto buckets = period(Bucket::day, "Europe/Berlin", days{40});
  const auto durations =
      world_.await(statistics_.durations(world_.scheduler, world_.merchant(), buckets, {})).value();
  std::vector<std::int64_t> scanned(storage::kTookClasses);
  for (const auto& row : all()) {
    if (row.status == DeliveryStatus::completed)
      ++scanned[storage::took_class(*row.completed_at - row.created_at)];
  }
  EXPECT_EQ(durations.classes, scanned);

  const auto seen = overview("Europe/Berlin");
  const auto zone = TimeZone::find("Europe/Berlin").value();
  const auto midnight = zone.start_of(zone.date_at(seen.as_of));
  Overview::Today today;
  Overview::Now now;
  for (const auto& row : all()) {
    today.completed += row.status == DeliveryStatus::completed && *row.completed_at >= midnight ? 1 : 0;
    today.failed += row.status == DeliveryStatus::failed && row.counted->since >= midnight ? 1 : 0;
    now.waiting += row.status == DeliveryStatus::waiting_for_friendship ? 1 : 0;
    now.in_review += row.status == DeliveryStatus::in_review ? 1 : 0;
  }
  EXPECT_EQ(seen.today.completed, today.completed);
  EXPECT_EQ(seen.today.failed, today.failed);
  EXPECT_EQ(seen.now.waiting, now.waiting);
  EXPECT_EQ(seen.now.in_review, now.in_review);
  EXPECT_EQ(seen.recent.size(), 5U);
}

TEST_F(StatisticsTest, TheNextStartOfADeliveryWhoseAttemptFailedIsThatOfItsNextAttempt) {
  world_.cloud.before = [](auto& call, auto&) {
    return call == "share" ? testing::FakeCloud::Fate::fail : testing::FakeCloud::Fate::answer;
  };
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  world_.cloud.accept("u-ann");
  world_.settle(std::chrono::minutes{3});
  ASSERT_EQ(world_.status(id), "queued");
  ASSERT_GT(world_.delivery(id).next_attempt_at, world_.database.clock.now());
  EXPECT_EQ(overview().limit.next_start_at, world_.delivery(id).next_attempt_at);
}

TEST_F(StatisticsTest, FiguresAreTheSameOnceQuartersHaveBecomeDays) {
  live(30);
  const auto before = world_.await(
      statistics_.deliveries(world_.scheduler, world_.merchant(), period(Bucket::day, "UTC", days{20}), {}));
  world_.write([&](storage::Tx& tx) {
    while (fold_activity(tx, std::chrono::floor<days>(tx.now()), 100) > 0) {
    }
  });
  const auto after = world_.await(
      statistics_.deliveries(world_.scheduler, world_.merchant(), period(Bucket::day, "UTC", days{20}), {}));
  EXPECT_EQ(after->data, before->data);
  EXPECT_GT(after->totals.made, 0);
}

TEST_F(StatisticsTest, AnHourHasNothingOfTheFoldedDayBeforeIt) {
  world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  world_.settle(days{1});
  world_.deliver(world_.order("2", "Bob", {"sku-1"}));
  const auto now = world_.database.clock.now();
  const auto today = std::chrono::floor<days>(now);
  world_.write([&](storage::Tx& tx) {
    while (fold_activity(tx, today, 100) > 0) {
    }
  });
  // Today (UTC) begins there on the date of the day before.
  expect_deliveries({TimeZone::find("Pacific/Honolulu").value(), Bucket::hour, today, now + Millis{1}});
}

TEST_F(StatisticsTest, TheUsualDayIsTheMedianUpToTheSameTime) {
  world_.cloud.auto_accept = true;
  const auto deliver = [&](int count) {
    for (int n = 0; n < count; ++n) {
      const std::string id = std::to_string(++last_);
      world_.deliver(world_.order(id, "buyer" + id, {"sku-1"}));
    }
  };
  const auto to_next_day_at = [&](Millis time) {
    const auto now = world_.database.clock.now();
    world_.settle(std::chrono::floor<days>(now) + days{1} + time - now);
  };
  to_next_day_at(hours{10});
  for (int day = 0; day < 8; ++day) {
    EXPECT_EQ(overview().today.completed, 0);
    EXPECT_EQ(overview().today.usual_completed.has_value(), day >= 7) << day;
    deliver(1 + day % 3);
    world_.settle(hours{6});
    // Later in the day, which is not compared with.
    deliver(5);
    to_next_day_at(hours{10});
  }
  EXPECT_EQ(overview().today.usual_completed, 2) << "up to this quarter of an hour";
  deliver(1);
  world_.settle(minutes{30});
  const auto seen = overview();
  EXPECT_EQ(seen.today.completed, 1);
  EXPECT_EQ(seen.today.usual_completed, 2);
  EXPECT_EQ(seen.today.usual_failed, 0);
  EXPECT_GT(seen.credits.per_day_hundredths, 0);
  ASSERT_TRUE(seen.credits.runs_out_at);
  EXPECT_TRUE(seen.setup.first_delivery);
}

TEST_F(StatisticsTest, NeedsNameEachDeliveryOnceInTheirOrder) {
  EXPECT_TRUE(needs().empty());
  world_.deliver(world_.order("1", "", {"sku-1"}));
  world_.deliver(world_.order("2", "", {"sku-1"}));
  const auto reviewed = world_.deliver(world_.order("3", "Ann", {"sku-1"}));
  ASSERT_TRUE(world_.await(world_.actions.complete(world_.scheduler, world_.merchant(), reviewed)));
  ASSERT_TRUE(world_.await(world_.actions.reopen(world_.scheduler, world_.merchant(), reviewed)));
  EXPECT_EQ(needs(), (std::vector<std::string>{"failed username_missing 2", "review 1"}));
  world_.write([&](storage::Tx& tx) {
    update_standing(tx, world_.account, {storage::CredentialsStatus::missing, 2, world_.cloud_account});
  });
  world_.deliver(world_.order("4", "Bob", {"sku-1"}));
  EXPECT_EQ(needs(), (std::vector<std::string>{"login_missing credentials_missing 1",
                                               "failed username_missing 2", "review 1"}));
}

TEST_F(StatisticsTest, CreditsThatAreGoneComeBeforeWhatFailed) {
  world_.write([&](storage::Tx& tx) {
    auto balance = lock_balance(tx, world_.account).value();
    balance.granted = 0;
    update_balance(tx, world_.account, balance);
  });
  world_.deliver(world_.order("1", "", {"sku-1"}));
  world_.deliver(world_.order("2", "Ann", {"sku-1"}));
  EXPECT_EQ(needs(),
            (std::vector<std::string>{"credits_out insufficient_credits 1", "failed username_missing 1"}));
}

TEST_F(StatisticsTest, AStoreThatIsSilentForThreeTimesItsUsualGapIsNamed) {
  world_.cloud.auto_accept = true;
  for (int n = 0; n < 14; ++n) {
    world_.deliver(world_.order(std::to_string(n), "Ann", {"sku-1"}));
    world_.settle(hours{12});
  }
  world_.settle(hours{12});
  EXPECT_TRUE(needs().empty());
  world_.settle(hours{30});
  const auto silent = overview().needs;
  ASSERT_EQ(silent.size(), 1U);
  EXPECT_EQ(silent.front().kind, NeedKind::intake_silent);
  EXPECT_EQ(silent.front().integration, world_.integration);
  world_.deliver(world_.order("99", "Ann", {"sku-1"}));
  EXPECT_TRUE(needs().empty());

  world_.settle(hours{80});
  ASSERT_EQ(overview().needs.size(), 1U);
  auto order = world_.order("100", "Ann", {"sku-1"});
  order.received_at = world_.database.clock.now();
  const auto store =
      world_.await(world_.directory.find(world_.scheduler, world_.integration, Millis{0})).value();
  const auto program = world_.ids.make<ApiKeyId>();
  ASSERT_TRUE(
      world_.await(world_.intake.accept(world_.scheduler, {.integration = store,
                                                           .event = std::move(order),
                                                           .payload = {},
                                                           .key = program,
                                                           .asked_by = domain::Actor::api_key(program)})));
  EXPECT_TRUE(needs().empty()) << "what a program delivers for the store is not silence";
}

TEST(MedianOfClassesTest, LiesWithinItsClass) {
  std::vector<std::int64_t> classes(storage::kTookClasses);
  EXPECT_FALSE(median_of_classes(classes));
  classes[6] = 4;  // 30 to 60 seconds
  EXPECT_EQ(median_of_classes(classes), Millis{45'000});
  classes[0] = 3;
  EXPECT_EQ(median_of_classes(classes), Millis{33'750});
  classes.assign(classes.size(), 0);
  classes.back() = 1;
  EXPECT_EQ(median_of_classes(classes), days{30});
}

}  // namespace
}  // namespace presetbridge::services
