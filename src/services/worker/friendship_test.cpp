// Friend requests: how long a delivery waits for an acceptance, and what asks anew (spec 3.5).
#include <gtest/gtest.h>

#include "services/worker/platform_trouble_testing.h"

namespace presetbridge::services {
namespace {

using testing::World;
using Fate = testing::FakeCloud::Fate;
using namespace std::chrono_literals;

constexpr Millis kDay = 24h;

WorkerOptions weeks() {
  return {.jobs_per_minute = 0, .poll = 1h, .maintenance = 1h};
}

TEST(Friendship, ANewOrderOfABuyerWhoIgnoredAnOldRequestHasItsFourteenDays) {
  World world(weeks());
  world.cloud.auto_accept = false;
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(20 * kDay);
  ASSERT_EQ(world.status(first), "failed friendship_timeout");
  const auto second = world.deliver(world.order("2", "Ann", {"sku-2"}));
  world.settle(13 * kDay);
  EXPECT_EQ(world.status(second), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1) << "the platform holds the request still";
  world.settle(2 * kDay);
  EXPECT_EQ(world.status(second), "failed friendship_timeout");
}

TEST(Friendship, ARetryAfterATimeoutAsksAnewAndWaitsAgain) {
  World world(weeks());
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(20 * kDay);
  ASSERT_EQ(world.status(id), "failed friendship_timeout");
  const auto requests = world.delivery(id).requests_sent;
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::nullopt)));
  world.settle(13 * kDay);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.withdrawals["u-ann"], 1);
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
  EXPECT_EQ(world.delivery(id).requests_sent, requests + 1);
  world.settle(2 * kDay);
  EXPECT_EQ(world.status(id), "failed friendship_timeout");
}

TEST(Friendship, AnAcceptanceWithinNinetyDaysOfTheWaitingIsSeenThoughTheRequestIsOlder) {
  World world(weeks());
  world.cloud.auto_accept = false;
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(60 * kDay);
  const auto second = world.deliver(world.order("2", "Ann", {"sku-2"}));
  world.settle(50 * kDay);  // 110 days after the request
  ASSERT_EQ(world.status(second), "failed friendship_timeout");
  world.cloud.accept("u-ann");
  world.settle(3h);
  EXPECT_EQ(world.status(second), "completed");
  EXPECT_EQ(world.status(first), "failed friendship_timeout");
}

TEST(Friendship, SweepsGoOnWhileSomebodyWaitsForARequestOfMonthsAgo) {
  World world(weeks());
  world.cloud.auto_accept = false;
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(120 * kDay);
  const auto sweeps = world.cloud.count("sweep");
  world.settle(2 * kDay);
  EXPECT_EQ(world.cloud.count("sweep"), sweeps) << "nobody waits any more";
  const auto id = world.deliver(world.order("2", "Ann", {"sku-2"}));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  world.settle(2 * kDay);
  world.cloud.accept("u-ann");
  world.settle(3h);
  EXPECT_EQ(world.status(id), "completed");
}

TEST(Friendship, IsSweptForEachMinuteAfterADeliveryBeganToWaitForAnOldRequest) {
  World world;
  world.cloud.auto_accept = false;
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(3 * kDay);
  const auto id = world.deliver(world.order("2", "Ann", {"sku-2"}));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  const auto sweeps = world.cloud.count("sweep");
  world.settle(9min);
  EXPECT_GE(world.cloud.count("sweep") - sweeps, 8);
}

TEST(Friendship, InternalRequeueingDoesNotStartTheWaitingAnew) {
  World world(weeks());
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(10 * kDay);
  // Another order of the same buyer brings the job back; then the friendship is looked up again.
  world.write([](storage::Tx& tx) {
    tx.exec({"UPDATE customers SET friendship = 'unknown'"});
    tx.exec({"UPDATE customers SET queue_state = 1, due_at = 0"});
    tx.exec({"UPDATE cloud_accounts SET ready_at = 1"});
  });
  world.worker->wake();
  world.settle(5 * kDay);
  EXPECT_EQ(world.status(id), "failed friendship_timeout");
}

TEST(Friendship, IsReportedOnceByEachDeliveryOfEachRequest) {
  World world(World::attentive());
  world.cloud.auto_accept = false;
  const auto ann = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto other = world.deliver(world.order("2", "Bob", {"sku-2"}));
  EXPECT_EQ(world.delivery(ann).requests_sent, 1);
  // To a customer who has a request already, for another order.
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), other, "Ann")));
  world.settle();
  EXPECT_EQ(world.status(other), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  EXPECT_EQ(world.delivery(other).requests_sent, 2) << "of the one to Bob, and of the one to Ann";
  EXPECT_EQ(world.delivery(ann).requests_sent, 1);
  // A job that takes it from waiting and back reports nothing.
  const auto sequence = world.delivery(other).sequence;
  world.write([](storage::Tx& tx) {
    tx.exec(
        {"UPDATE customers SET friendship = 'unknown', queue_state = 1, due_at = 1, job_class = 3"
         " WHERE username_key = 'Ann'"});
    tx.exec({"UPDATE cloud_accounts SET ready_at = 1"});
  });
  world.worker->wake();
  world.settle(2min);
  EXPECT_EQ(world.status(other), "waiting_for_friendship");
  EXPECT_GT(world.delivery(other).attempt_count, 2);
  EXPECT_EQ(world.delivery(other).sequence, sequence);
}

TEST(Friendship, ARetryAfterARefusalAsksAnew) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.cloud.change("u-ann", cloud::FriendshipState::declined);
  world.settle(2min);
  ASSERT_EQ(world.status(id), "failed friend_request_declined");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::nullopt)));
  world.settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
  EXPECT_EQ(world.cloud.withdrawals["u-ann"], 0) << "none stood";
  // And once: the next job leaves the new request alone.
  world.deliver(world.order("2", "Ann", {"sku-2"}));
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
}

TEST(Friendship, ARequestWhoseWithdrawalWasLostIsMadeAnewOnce) {
  World world(weeks());
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(15 * kDay);
  ASSERT_EQ(world.status(id), "failed friendship_timeout");
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "withdraw" ? testing::once(lost, Fate::lose_answer) : Fate::answer;
  };
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::nullopt)));
  world.settle(2h);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.withdrawals["u-ann"], 1);
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
}

TEST(Friendship, WhatAProgramOfBeforeLeftWaitingEndsToo) {
  World world(weeks());
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.write([](storage::Tx& tx) { tx.exec({"UPDATE deliveries SET waiting_since = NULL"}); });
  world.settle(13 * kDay);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  world.settle(2 * kDay);
  EXPECT_EQ(world.status(id), "failed friendship_timeout");
}

}  // namespace
}  // namespace presetbridge::services
