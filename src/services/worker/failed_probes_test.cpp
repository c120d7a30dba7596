// Probes of deliveries that failed as `cloud_unavailable` (spec 3.5).
#include <gtest/gtest.h>

#include "services/worker/platform_trouble_testing.h"

namespace presetbridge::services {
namespace {

using testing::accept;
using testing::entries;
using testing::expect_books_balance;
using testing::fail_calls;
using testing::failed_unavailable;
using testing::slow;
using testing::World;
using Fate = testing::FakeCloud::Fate;
using namespace std::chrono_literals;

// Its delivery, when three days of shares that fail have made it `cloud_unavailable`. They go on failing.
DeliveryId fail_alone(World& world, const domain::OrderEvent& order, Fate fate) {
  fail_calls(world, "share", fate);
  const auto id = world.deliver(order);
  world.settle(75h);
  EXPECT_TRUE(failed_unavailable(world, id));
  return id;
}

TEST(Trouble, OneThatFailedAloneIsProbedEachHourAndResumes) {
  World world(slow());
  const auto id = fail_alone(world, world.order("1", "Ann", {"sku-1"}), Fate::lose_request);
  const auto before = world.delivery(id);
  const auto timeline = entries(world, id);
  const auto shares = world.cloud.count("share");
  world.settle(10h);
  EXPECT_GE(world.cloud.count("share") - shares, 9);
  EXPECT_LE(world.cloud.count("share") - shares, 11);
  EXPECT_TRUE(failed_unavailable(world, id));
  EXPECT_EQ(world.delivery(id).sequence, before.sequence) << "a probe that fails makes no event";
  EXPECT_EQ(entries(world, id), timeline);
  world.cloud.before = nullptr;
  world.settle(2h);
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(Trouble, AFailedOrderOfHighRiskIsNotSharedByItsProbe) {
  World world(slow());
  const auto id = fail_alone(world, testing::later(world, "1", {"sku-1"}, 0), Fate::fail);
  domain::OrderEvent risk{
      .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  world.cloud.before = nullptr;
  world.settle(5h);
  EXPECT_TRUE(world.cloud.shares.empty());
  EXPECT_TRUE(failed_unavailable(world, id));
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::nullopt)));
  EXPECT_EQ(world.status(id), "in_review");
}

TEST(Trouble, AFailedOrderThatTheStoreGivesAnotherNameIsProbedForThatCustomer) {
  World world(slow());
  const auto id = fail_alone(world, testing::later(world, "1", {"sku-1"}, 0), Fate::fail);
  auto event = testing::later(world, "1", {"sku-1"}, 1);
  event.username = event.raw_username = "Bob";
  event.updated_at = world.database.clock.now();
  world.accept(event);
  EXPECT_TRUE(failed_unavailable(world, id)) << "a name is no cure for the platform";
  world.cloud.before = nullptr;
  world.settle(2h);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.cloud.shares.contains({"u-bob", "file-1"}));
  EXPECT_FALSE(world.cloud.shares.contains({"u-ann", "file-1"})) << "it is not theirs any more";
  EXPECT_EQ(world.balance().spent, 1);
  expect_books_balance(world);
}

TEST(Trouble, ANameThatComesWhileItsFailedOrderIsProbedCountsAtOnce) {
  World world(slow());
  const auto id = fail_alone(world, testing::later(world, "1", {"sku-1"}, 0), Fate::fail);
  auto event = testing::later(world, "1", {"sku-1"}, 1);
  event.username = event.raw_username = "Bob";
  // The job of the former customer has the delivery, and has not begun to share.
  fail_calls(world, "friendship", Fate::hold);
  world.write([&](storage::Tx& tx) {
    auto customer = lock_customer(tx, find_delivery(tx, id)->customer).value();
    customer.friendship = storage::Friendship::unknown;
    update_customer(tx, customer);
  });
  const auto asked = world.cloud.count("friendship");
  for (int i = 0; i < 7'200 && world.cloud.count("friendship") == asked; ++i) world.settle(1s);
  ASSERT_EQ(world.cloud.count("friendship"), asked + 1);
  event.updated_at = world.database.clock.now();
  world.accept(event);
  world.cloud.before = nullptr;
  world.cloud.release();
  world.settle(3h);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  EXPECT_TRUE(world.cloud.shares.contains({"u-bob", "file-1"}));
  expect_books_balance(world);
}

TEST(Trouble, AProbeWhoseAnswerIsLostIsSettledAndResumesToo) {
  World world(slow());
  const auto id = fail_alone(world, world.order("1", "Ann", {"sku-1", "sku-2"}), Fate::lose_request);
  fail_calls(world, "share", Fate::lose_answer);
  const auto shares = world.cloud.count("share");
  while (world.cloud.count("share") == shares) world.settle(1min);
  world.settle(15min);
  EXPECT_EQ(world.status(id), "completed") << "what the settlement found is progress, and the rest goes on";
  expect_books_balance(world);
}

TEST(Trouble, IsProbedForThirtyDays) {
  World world({.jobs_per_minute = 0, .poll = 1h, .maintenance = std::chrono::minutes{30}});
  fail_calls(world, "share", Fate::fail);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::days{32});
  const auto shares = world.cloud.count("share");
  EXPECT_GT(shares, 29 * 24);
  world.settle(std::chrono::days{4});
  EXPECT_LE(world.cloud.count("share") - shares, 30);
  world.cloud.before = nullptr;
  world.settle(std::chrono::days{2});
  EXPECT_TRUE(failed_unavailable(world, id));
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::nullopt)));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST(Trouble, OnesThatFailedAloneAreProbedInTurn) {
  World world(slow());
  std::set<std::string> failing = {"file-1", "file-2", "file-4"};
  std::set<std::string> tried;
  world.cloud.before = [&](auto& call, auto& file) {
    if (call == "share") tried.insert(file);
    return call == "share" && failing.contains(file) ? Fate::fail : Fate::answer;
  };
  // The friendships exist, so that a probe makes a share.
  for (const char* name : {"Ann", "Bob", "Dan"}) accept(world, std::string("before ") + name, name, "sku-9");
  world.settle();
  world.hold_queue();
  const auto ann = accept(world, "1", "Ann", "sku-1");
  const auto bob = accept(world, "2", "Bob", "sku-2");
  const auto dan = accept(world, "3", "Dan", "sku-4");
  world.write([&](storage::Tx& tx) {
    DeliverySet set(tx, world.changes);
    for (const auto id : {ann, bob, dan})
      set.apply(*set.delivery(id),
                {.cause = domain::Cause::known_cause, .code = domain::ResolutionCode::cloud_unavailable});
    set.save();
    ensure_probe(tx, world.cloud_account, tx.now() + 1h);
  });
  world.settle(5h);
  for (const char* file : {"file-1", "file-2", "file-4"}) EXPECT_TRUE(tried.contains(file)) << file;
  EXPECT_EQ(world.queue().trouble, "") << "three probes that fail are no outage";
  failing = {"file-1", "file-4"};
  world.settle(4h);
  EXPECT_EQ(world.status(bob), "completed");
  EXPECT_TRUE(failed_unavailable(world, ann)) << "each of those that failed alone resumes by its own probe";
  failing.clear();
  world.settle(3h);
  EXPECT_EQ(world.status(ann), "completed");
  EXPECT_EQ(world.status(dan), "completed");
}

TEST(Trouble, WhatFailedAloneIsNotResumedWithWhatFailedInAnOutage) {
  World world(slow());
  const auto file_1_fails = [](const std::string& call, const std::string& file) {
    return call == "share" && file == "file-1" ? Fate::fail : Fate::answer;
  };
  world.cloud.before = file_1_fails;
  const auto alone = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, alone));
  const auto sequence = world.delivery(alone).sequence;
  world.cloud.before = [&](auto& call, auto& subject) {
    return call == "find_user" ? Fate::fail : file_1_fails(call, subject);
  };
  std::vector<DeliveryId> ids;
  for (const char* name : {"Bob", "Cid", "Dan", "Eve"}) ids.push_back(accept(world, name, name, "sku-2"));
  world.settle(76h);
  for (const auto id : ids) ASSERT_TRUE(failed_unavailable(world, id)) << world.status(id);
  world.cloud.before = file_1_fails;
  world.settle(5h);
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(failed_unavailable(world, alone));
  EXPECT_EQ(world.delivery(alone).sequence, sequence);
}

TEST(Trouble, AProbeThatFindsWhatIsWrongForGoodSaysSo) {
  World world(slow());
  const auto id = fail_alone(world, world.order("1", "Ann", {"sku-1"}), Fate::fail);
  world.cloud.before = nullptr;
  world.cloud.unknown_files = {"file-1"};
  world.settle(2h);
  EXPECT_EQ(world.status(id), "failed preset_not_found");
}

TEST(Trouble, AProbeThatFindsNoCreditSaysSoAndACreditResumesIt) {
  World world(slow(), 1);
  world.cloud.before = [](const std::string& call, const std::string& file) {
    return call == "share" && file == "file-1" ? Fate::fail : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
  ASSERT_EQ(world.status(world.deliver(world.order("2", "Bob", {"sku-2"}))), "completed");
  world.settle(2h);
  EXPECT_EQ(world.status(id), "failed insufficient_credits");
  world.cloud.before = nullptr;
  world.grant(1);
  world.settle(2h);
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(Trouble, AProbeAsksNobodyWhoCannotBeSharedWithForWantOfACredit) {
  World world(slow(), 1);
  fail_calls(world, "request", Fate::fail);
  world.cloud.friendships["u-bob"] = cloud::FriendshipState::friends;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
  ASSERT_EQ(world.status(world.deliver(world.order("2", "Bob", {"sku-2"}))), "completed");
  world.cloud.before = nullptr;
  const auto requests = world.cloud.requests["u-ann"];
  world.settle(2h);
  EXPECT_EQ(world.status(id), "failed insufficient_credits");
  EXPECT_EQ(world.cloud.requests["u-ann"], requests);
}

// Ann's order fails in the trouble that the world has. Then that passes, another order takes the last credit, and a
// probe must find that out.
void expect_probe_without_a_credit(World& world) {
  const auto id = world.deliver(world.order("2", "Ann", {"sku-1"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
  world.cloud.before = nullptr;
  const auto last = world.deliver(world.order("3", "Bob", {"sku-2"}));
  world.settle(2min);
  ASSERT_EQ(world.status(last), "completed");
  world.settle(3h);
  EXPECT_EQ(world.status(id), "failed insufficient_credits");
  world.grant(1);
  world.settle(2h);
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

// An outage of look-ups ends with a look-up, and perhaps nobody else's name has to be looked up (spec 3.5, 3.6).
TEST(Trouble, AProbeWithoutACreditLooksUpANameInAnOutageOfLookUps) {
  World world(slow(), 2);
  ASSERT_EQ(world.status(world.deliver(world.order("1", "Bob", {"sku-1"}))), "completed");
  fail_calls(world, "find_user", Fate::rate_limit);
  expect_probe_without_a_credit(world);
}

// Likewise one of look-ups of friendships, which ends with such a look-up.
TEST(Trouble, AProbeWithoutACreditLooksUpAFriendshipInAnOutageOfThese) {
  World world(slow(), 2);
  ASSERT_EQ(world.status(world.deliver(world.order("1", "Bob", {"sku-1"}))), "completed");
  world.cloud.before = [](const std::string& call, const std::string&) {
    return call == "request" ? Fate::lose_answer : call == "friendship" ? Fate::rate_limit : Fate::answer;
  };
  expect_probe_without_a_credit(world);
}

// Found by the simulation: the limit of look-ups stayed as long as nobody's name was looked up.
TEST(Trouble, ALimitThatADeliveryMetWhichIsOverHidesNoMissingCredit) {
  World world(slow(), 2);
  ASSERT_EQ(world.status(world.deliver(world.order("1", "Bob", {"sku-1"}))), "completed");
  world.cloud.before = [](const std::string& call, const std::string& file) {
    return call == "share" && file == "file-3" ? Fate::fail : Fate::answer;
  };
  const auto id = world.deliver(world.order("2", "Ann", {"sku-3"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
  fail_calls(world, "find_user", Fate::rate_limit);
  const auto over = world.deliver(world.order("3", "Cleo", {"sku-1"}));
  world.settle(1min);
  ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), over, "mistaken")));
  world.cloud.before = nullptr;
  world.settle(2min);
  world.write([&](storage::Tx& tx) {
    auto balance = *lock_balance(tx, world.account);
    update_balance(tx, world.account, domain::reverse(balance, 1).value());
  });
  world.settle(3h);
  EXPECT_EQ(world.status(id), "failed insufficient_credits");
}

TEST(Trouble, AProbeWithoutACreditChangesNothingInAnOutage) {
  World world(slow(), 2);
  fail_calls(world, "share", Fate::fail);
  std::vector<DeliveryId> ids;
  for (const auto* const name : {"Ann", "Bob", "Cleo"})
    ids.push_back(world.deliver(world.order(name, name, {"sku-1"})));
  world.settle(100h);
  for (const auto id : ids) ASSERT_TRUE(failed_unavailable(world, id));
  world.write([&](storage::Tx& tx) {
    auto balance = *lock_balance(tx, world.account);
    update_balance(tx, world.account, domain::reverse(balance, 2).value());
  });
  const auto last = world.delivery(ids[0]).sequence;
  world.settle(10h);
  EXPECT_TRUE(failed_unavailable(world, ids[0]));
  EXPECT_EQ(world.delivery(ids[0]).sequence, last);
}

TEST(Trouble, AProbeOfAFriendRequestThatGetsOnQueuesTheDelivery) {
  World world(slow());
  world.cloud.auto_accept = false;
  fail_calls(world, "request", Fate::fail);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
  const auto sequence = world.delivery(id).sequence;
  world.cloud.before = nullptr;
  world.settle(2h);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.delivery(id).sequence, sequence + 2) << "delivery.queued, delivery.waiting_for_friendship";
}

}  // namespace
}  // namespace presetbridge::services
