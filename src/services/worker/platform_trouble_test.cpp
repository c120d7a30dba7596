// Retries, outages and what ends them, as a merchant sees them (spec 3.5).
#include <gtest/gtest.h>

#include "services/worker/platform_trouble_testing.h"

namespace presetbridge::services {
namespace {

using testing::accept;
using testing::expect_books_balance;
using testing::fail_calls;
using testing::failed_unavailable;
using testing::slow;
using testing::World;
using Fate = testing::FakeCloud::Fate;
using namespace std::chrono_literals;

// ---------------------------------------------------------------- retries

TEST(Trouble, AShareThatTimesOutIsGivenUpAfterThreeDaysThoughReadsAnswer) {
  World world(slow());
  fail_calls(world, "share", Fate::lose_request);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(71h);
  EXPECT_EQ(world.status(id), "queued");
  EXPECT_LT(world.cloud.count("share"), 250)
      << "the waiting grows to an hour at most, about half of it in the mean";
  world.settle(3h);
  EXPECT_TRUE(failed_unavailable(world, id)) << world.status(id);
  EXPECT_EQ(world.balance().held, 0);
}

TEST(Trouble, AFriendRequestThatTimesOutIsGivenUpAfterThreeDaysThoughReadsAnswer) {
  World world(slow());
  fail_calls(world, "request", Fate::lose_request);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(71h);
  EXPECT_EQ(world.status(id), "queued");
  EXPECT_LT(world.cloud.count("request"), 250);
  world.settle(3h);
  EXPECT_TRUE(failed_unavailable(world, id)) << world.status(id);
}

TEST(Trouble, AShareWhoseAnswerWasLostCountsAsDone) {
  World world(slow());
  fail_calls(world, "share", Fate::lose_answer);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2", "sku-3"}));
  world.settle(6h);
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
  const auto row = world.delivery(id);
  const auto customer = world.write([&](storage::Tx& tx) { return find_customer(tx, row.customer).value(); });
  EXPECT_EQ(customer.queue_state, storage::QueueState::idle);
}

TEST(Trouble, TheClockOfADeliveryThatIsGoneIsNotThatOfTheNext) {
  World world(slow());
  fail_calls(world, "share", Fate::fail);
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(2h);
  ASSERT_EQ(world.status(first), "queued");
  ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), first, "no")));
  // Before the customer's next job, which has nothing to do and would end the clock.
  const auto second = world.accept(world.order("2", "Ann", {"sku-2"})).delivery.value();
  world.settle(71h);
  EXPECT_EQ(world.status(second), "queued");
  world.cloud.before = nullptr;
  world.settle(2h);
  EXPECT_EQ(world.status(second), "completed");
}

TEST(Trouble, TheNextOrderOfACustomerWhoseDeliveryWasInvalidatedDaysAgoHasItsThreeDays) {
  World world(slow());
  fail_calls(world, "share", Fate::fail);
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), first, "no")));
  world.settle(std::chrono::days{5});
  const auto second = world.deliver(world.order("2", "Ann", {"sku-2"}));
  EXPECT_EQ(world.status(second), "queued");
  world.cloud.before = nullptr;
  world.settle(2h);
  EXPECT_EQ(world.status(second), "completed");
}

TEST(Trouble, TheClockOfADeliveryThatCameToWaitForItsCustomerIsOver) {
  World world(slow());
  fail_calls(world, "share", Fate::fail);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(10h);
  // The customer ended the friendship: the next share is refused for that, and a new request made.
  world.cloud.before = nullptr;
  world.cloud.auto_accept = false;
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::none;
  world.settle(2h);
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  world.settle(std::chrono::days{5});
  fail_calls(world, "share", Fate::fail);
  world.cloud.accept("u-ann");
  world.settle(3h);
  EXPECT_EQ(world.status(id), "queued");
}

// ---------------------------------------------------------------- outages

TEST(Trouble, TheOnlyDeliveryThatAnOutageLeavesIsGivenUpAfterThreeDaysToo) {
  World world(slow());
  fail_calls(world, "share", Fate::fail);
  const auto id = accept(world, "1", "Ann", "sku-1");
  const auto second = accept(world, "2", "Bob", "sku-1");
  const auto third = accept(world, "3", "Cid", "sku-1");
  world.settle(5min);
  for (const auto other : {second, third})
    ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), other, "no")));
  world.settle(71h);
  EXPECT_EQ(world.status(id), "queued");
  world.settle(3h);
  EXPECT_TRUE(failed_unavailable(world, id)) << world.status(id);
}

TEST(Trouble, OfOneCallIsAnOutageThoughOthersAnswerAndSweepsGoOn) {
  World world;
  world.cloud.auto_accept = false;
  const auto waiting = world.deliver(world.order("0", "Dan", {"sku-1"}));
  ASSERT_EQ(world.status(waiting), "waiting_for_friendship");
  world.cloud.auto_accept = true;
  fail_calls(world, "share", Fate::fail);
  std::vector<DeliveryId> ids;
  for (const char* name : {"Ann", "Bob", "Cid", "Eve", "Fay"})
    ids.push_back(accept(world, name, name, "sku-1"));
  world.settle(5min);
  const auto shares = world.cloud.count("share");
  const auto sweeps = world.cloud.count("sweep");
  world.settle(1h);
  EXPECT_LE(world.cloud.count("share") - shares, 61) << "one probe a minute";
  EXPECT_GE(world.cloud.count("share") - shares, 55) << "and probes try the failed work";
  EXPECT_GE(world.cloud.count("sweep") - sweeps, 10)
      << "each five minutes: sweeps go on while only writes fail";
  // A customer whose acceptance a sweep reads waits like the others.
  world.cloud.accept("u-dan");
  world.settle(69h);
  EXPECT_EQ(world.status(waiting), "queued");
  for (const auto id : ids) EXPECT_EQ(world.status(id), "queued");
  world.settle(4h);
  for (const auto id : ids) EXPECT_TRUE(failed_unavailable(world, id)) << world.status(id);
  EXPECT_TRUE(failed_unavailable(world, waiting));
  world.cloud.before = nullptr;
  world.settle(2h);
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.status(waiting), "completed");
  expect_books_balance(world);
}

TEST(Trouble, ThreeThatFailForTheirOwnReasonDoNotStopTheAccount) {
  World world;
  world.cloud.before = [](auto& call, auto& file) {
    return call == "share" && file == "file-1" ? Fate::fail : Fate::answer;
  };
  for (const char* name : {"Ann", "Bob", "Cid"}) accept(world, name, name, "sku-1");
  world.settle(5min);
  for (int i = 0; i < 20; ++i) {
    const auto name = "eve" + std::to_string(i);
    const auto id = world.deliver(world.order(name, name, {"sku-2"}));
    world.settle(4min);
    EXPECT_EQ(world.status(id), "completed") << i;
    world.settle(20min);
  }
}

TEST(Trouble, ThreeFailuresWithASuccessOfTheSameCallBetweenAreNoOutage) {
  World world;
  world.hold_queue();
  std::set<std::string> failed;
  world.cloud.before = [&](auto& call, auto& file) {
    return call == "share" && file != "file-2" && failed.insert(file).second ? Fate::fail : Fate::answer;
  };
  // All leased at once, before anything fails.
  accept(world, "1", "Ann", "sku-1");
  accept(world, "2", "Bob", "sku-2");
  accept(world, "3", "Cid", "sku-3");
  accept(world, "4", "Dan", "sku-4");
  while (failed.size() < 3) world.settle(1s);
  const auto next = world.deliver(world.order("5", "Eve", {"sku-2"}));
  EXPECT_EQ(world.status(next), "completed") << "it does not wait for the probe of the next minute";
}

TEST(Trouble, DeliveriesThatAreGoneCountForNoOutage) {
  World world(slow());
  for (const char* name : {"Ann", "Bob", "Cid", "Dan"})
    accept(world, std::string("before ") + name, name, "sku-9");
  world.settle();
  fail_calls(world, "share", Fate::fail);
  for (const char* name : {"Ann", "Bob"}) {
    const auto id = world.deliver(world.order(name, name, {"sku-1"}));
    ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "no")));
  }
  world.settle(std::chrono::days{5});
  const auto cid = world.deliver(world.order("3", "Cid", {"sku-1"}));
  EXPECT_EQ(world.status(cid), "queued");
  world.cloud.before = nullptr;
  const auto dan = world.deliver(world.order("4", "Dan", {"sku-2"}));
  EXPECT_EQ(world.status(dan), "completed") << "the account has no outage";
  world.settle(2h);
  EXPECT_EQ(world.status(cid), "completed");
}

TEST(Trouble, AnOutageOfDeliveriesThatAreGoneIsOver) {
  World world;
  fail_calls(world, "share", Fate::fail);
  for (const char* name : {"Ann", "Bob", "Cid"}) accept(world, name, name, "sku-1");
  world.settle(3min);
  world.write([](storage::Tx& tx) {
    tx.exec({"UPDATE deliveries SET status = 'invalidated', open = 0, invalidated_by = 'merchant'"});
  });
  world.cloud.auto_accept = false;
  world.settle(2min);
  std::vector<DeliveryId> ids;
  for (const char* name : {"Dan", "Eve", "Fay", "Gus"}) ids.push_back(accept(world, name, name, "sku-1"));
  world.settle(90s);
  for (const auto id : ids) EXPECT_EQ(world.status(id), "waiting_for_friendship");
}

TEST(Trouble, TheClockOfAnOutageWhoseDeliveriesWereInvalidatedIsNotThatOfTheNext) {
  World world(slow());
  fail_calls(world, "share", Fate::fail);
  std::vector<DeliveryId> ids;
  for (const char* name : {"Ann", "Bob", "Cid"}) ids.push_back(accept(world, name, name, "sku-1"));
  world.settle(5min);
  ASSERT_NE(world.queue().trouble, "");
  for (const auto id : ids)
    ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "no")));
  // No call is made any more: nobody knows whether they would succeed.
  world.settle(80h);
  for (const auto id : ids) {
    ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
    ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  }
  world.settle(70h);
  for (const auto id : ids) EXPECT_EQ(world.status(id), "queued");
  world.settle(4h);
  for (const auto id : ids) EXPECT_TRUE(failed_unavailable(world, id)) << world.status(id);
}

TEST(Trouble, AnOutageCostsNoDeliveryItsAttempts) {
  World world;
  world.cloud.before = [](auto&, auto&) { return Fate::fail; };
  for (const char* name : {"Ann", "Bob", "Cid"}) accept(world, name, name, "sku-1");
  world.settle(70h);
  std::string one;
  world.cloud.before = [&](auto& call, auto& subject) {
    if (call != "find_user") return Fate::answer;
    if (one.empty()) one = subject;
    return subject == one ? Fate::answer : Fate::fail;
  };
  world.settle(5min);
  ASSERT_FALSE(one.empty());
  world.settle(3h);  // 73 h after the first failure
  int queued = 0;
  int completed = 0;
  for (const char* name : {"Ann", "Bob", "Cid"}) {
    const auto row = world.write([&](storage::Tx& tx) {
      return tx
          .one({"SELECT status FROM deliveries WHERE order_key = $1"}, name,
               [](const storage::Row& r) { return r.string(0); })
          .value();
    });
    queued += row == "queued" ? 1 : 0;
    completed += row == "completed" ? 1 : 0;
  }
  EXPECT_EQ(completed, 1);
  EXPECT_EQ(queued, 2) << "their own 72 hours began when the outage was over";
}

TEST(Trouble, ALoginThatFindsNoPlaceHereIsNoTroubleAndIsTriedAgain) {
  World world;
  const auto before = world.queue().trouble;
  world.agent.busy = true;
  std::vector<DeliveryId> ids;
  for (const char* name : {"Ann", "Bob", "Cid"}) ids.push_back(accept(world, name, name, "sku-1"));
  world.settle(5min);
  for (const auto id : ids) EXPECT_EQ(world.status(id), "queued");
  EXPECT_EQ(world.queue().trouble, before);
  EXPECT_FALSE(world.log.text.contains("the cloud platform does not answer")) << world.log.text;
  EXPECT_GE(world.agent.logins, 9) << "each half minute";
  world.agent.busy = false;
  world.settle(1min);
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

// ---------------------------------------------------------------- probes of what failed

TEST(Trouble, ARateLimitOfADayIsObeyed) {
  World world;
  world.cloud.retry_after = 20h;
  fail_calls(world, "share", Fate::rate_limit);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.cloud.before = nullptr;
  const auto calls = world.cloud.calls.size();
  world.deliver(world.order("2", "Bob", {"sku-1"}));
  world.settle(19h);
  EXPECT_EQ(world.cloud.calls.size(), calls);
  world.settle(2h);
  EXPECT_EQ(world.status(id), "completed");
}

}  // namespace
}  // namespace presetbridge::services
