// Many workers want the last credits of an account (spec 3.9, 11.1).
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "services/testing.h"
#include "services/worker/account_tasks.h"

namespace presetbridge::services {
namespace {

using testing::expect_books_balance;
using testing::FakeCloud;
using testing::World;

constexpr int kWorkers = 64;
constexpr int kCredits = 10;

TEST(LastCredits, SixtyFourWorkersShareTenFilesAndTheRestGoesOnByItselfAfterAPurchase) {
  World world(World::unlimited(), kCredits);
  world.stop_worker();
  const auto options = [](int n) {
    auto one = World::unlimited();
    one.owner = "worker-" + std::to_string(n);
    one.max_jobs = 1;
    return one;
  };
  std::vector<std::unique_ptr<DeliveryWorker>> workers;
  world.start_worker(options(0));
  for (int n = 1; n < kWorkers; ++n) {
    workers.push_back(std::make_unique<DeliveryWorker>(
        WorkerPorts{world.scheduler, world.database.clock, world.random, world.log, world.metrics,
                    world.async_db, world.cloud, *world.sessions, world.changes},
        options(n)));
    workers.back()->start();
  }
  // Each is in the middle of a job before any of them may share.
  world.cloud.before = [](const auto& call, const auto&) {
    return call == "friendship" || call == "request" ? FakeCloud::Fate::hold : FakeCloud::Fate::answer;
  };
  std::vector<DeliveryId> deliveries;
  world.hold_queue();
  for (int n = 0; n < kWorkers; ++n) {
    const auto number = std::to_string(n);
    deliveries.push_back(*world.accept(world.order(number, "buyer" + number, {"sku-1"})).delivery);
  }
  world.settle(Millis{1'100});
  for (auto& worker : workers) worker->wake();
  world.worker->wake();
  world.settle(Millis{5'000});
  ASSERT_EQ(world.cloud.held(), static_cast<std::size_t>(kWorkers)) << "all of them are at work";
  world.cloud.before = {};
  world.cloud.release();
  world.settle(std::chrono::minutes{2});

  const auto count = [&](const std::string& status) {
    return std::ranges::count(deliveries, status, [&](DeliveryId id) { return world.status(id); });
  };
  EXPECT_EQ(count("completed"), kCredits);
  EXPECT_EQ(count("failed insufficient_credits"), kWorkers - kCredits);
  EXPECT_EQ(world.balance().available(), 0);
  EXPECT_EQ(world.cloud.shares.size(), static_cast<std::size_t>(kCredits));
  expect_books_balance(world);

  std::vector<DeliveryId> stopped;  // the oldest first
  std::ranges::copy_if(deliveries, std::back_inserter(stopped),
                       [&](DeliveryId id) { return world.status(id) == "failed insufficient_credits"; });
  // As a purchase is granted.
  world.write([&](storage::Tx& tx) {
    update_balance(tx, world.account, domain::purchase(*lock_balance(tx, world.account), 20).value());
    give_out_credits(tx, world.account, 20);
  });
  world.worker->wake();
  world.settle(std::chrono::minutes{10});
  EXPECT_EQ(count("completed"), kCredits + 20);
  EXPECT_EQ(world.balance().available(), 0);
  expect_books_balance(world);
  for (std::size_t i = 0; i < stopped.size(); ++i)
    EXPECT_EQ(world.status(stopped[i]) == "completed", i < 20) << "the oldest come first: " << i;
  int ended = 0;
  for (auto& worker : workers) worker->stop([&ended] { ++ended; });
  world.settle(std::chrono::minutes{1});
  EXPECT_EQ(ended, kWorkers - 1);
}

// An account without credits, and orders of three buyers, none of whom accepts yet.
class FewCredits : public ::testing::Test {
 protected:
  FewCredits() {
    world_.cloud.auto_accept = false;
    for (const std::string name : {"Ann", "Bob", "Cid"}) {
      const auto number = std::to_string(ids_.size() + 1);
      ids_.push_back(*world_.accept(world_.order(number, name, {"sku-" + number})).delivery);
    }
    expect("failed insufficient_credits", "failed insufficient_credits", "failed insufficient_credits");
  }
  void expect(const std::string& first, const std::string& second, const std::string& third) {
    EXPECT_EQ(world_.status(ids_[0]), first);
    EXPECT_EQ(world_.status(ids_[1]), second);
    EXPECT_EQ(world_.status(ids_[2]), third);
  }
  void grant(std::int64_t credits) {
    world_.grant(credits);
    world_.settle(std::chrono::minutes{3});
  }

  World world_{World::attentive(), 0};
  std::vector<DeliveryId> ids_;
};

TEST_F(FewCredits, CreditsOfALaterPurchaseAreForOtherDeliveries) {
  grant(1);
  expect("waiting_for_friendship", "failed insufficient_credits", "failed insufficient_credits");
  grant(1);
  expect("waiting_for_friendship", "waiting_for_friendship", "failed insufficient_credits");
  EXPECT_EQ(world_.cloud.requests["u-cid"], 0);
}

TEST_F(FewCredits, CreditsOfTwoPurchasesAtOnceAreForTwoDeliveries) {
  world_.grant(1);
  grant(1);
  expect("waiting_for_friendship", "waiting_for_friendship", "failed insufficient_credits");
}

TEST_F(FewCredits, ACreditThatIsNotNeededAnyMoreIsForTheNext) {
  grant(1);
  ASSERT_TRUE(
      world_.await(world_.actions.invalidate(world_.scheduler, world_.merchant(), ids_[0], "a test")));
  world_.settle(std::chrono::minutes{3});
  expect("invalidated", "waiting_for_friendship", "failed insufficient_credits");
}

TEST_F(FewCredits, CreditsThatATaskHasGivenOutMeanwhileAreNotSpare) {
  grant(1);
  world_.write([&](storage::Tx& tx) { give_out_spare_credits(tx, world_.account); });
  world_.settle(std::chrono::minutes{3});
  expect("waiting_for_friendship", "failed insufficient_credits", "failed insufficient_credits");
}

TEST_F(FewCredits, ACreditWhoseShareFailedForAWhileStaysWithItsDelivery) {
  bool limited = false;
  world_.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? testing::once(limited, FakeCloud::Fate::rate_limit) : FakeCloud::Fate::answer;
  };
  grant(1);
  world_.cloud.accept("u-ann");
  world_.settle(std::chrono::minutes{10});
  ASSERT_TRUE(limited);
  expect("completed", "failed insufficient_credits", "failed insufficient_credits");
  EXPECT_EQ(world_.cloud.requests["u-bob"], 0);
}

// On threads and transactions of their own, against the row's lock alone.
TEST(LastCredits, SixtyFourTransactionsAtOnceHoldTen) {
  World world(World::unlimited(), kCredits);
  world.stop_worker();
  std::latch ready(kWorkers);
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  std::atomic<int> held = 0;
  std::vector<std::jthread> threads;
  for (int n = 0; n < kWorkers; ++n) {
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      bool got = false;
      world.database->write([&](storage::Tx& tx) {
        ++begun;
        const auto after = domain::hold(*lock_balance(tx, world.account), 1);
        // Waits until another one is here too, and long enough for it to interfere, if no lock prevents that.
        if (tx.others_write()) {
          while (begun - ended < 2 && begun < kWorkers) find_balance(tx, world.account);
        }
        for (int n = 0; n < 20; ++n) find_balance(tx, world.account);
        got = after.has_value();
        if (after) update_balance(tx, world.account, *after);
      });
      ++ended;
      held += got ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(held, kCredits);
  EXPECT_EQ(world.balance().available(), 0);
  EXPECT_EQ(world.balance().held, kCredits);
  world.start_worker(World::unlimited());
}

}  // namespace
}  // namespace presetbridge::services
