// Retries, outages, probes and what ends them, as a merchant sees them (spec 3.5).
#include <gtest/gtest.h>

#include <algorithm>

#include "services/testing.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;
using testing::expect_books_balance;
using testing::World;
using Fate = testing::FakeCloud::Fate;

// Few polls, for tests that last days.
WorkerOptions slow() {
  return {.jobs_per_minute = 0, .poll = std::chrono::minutes{30}, .maintenance = std::chrono::minutes{5}};
}

void fail_calls(World& world, const std::string& failing, Fate fate) {
  world.cloud.before = [failing, fate](auto& call, auto&) { return call == failing ? fate : Fate::answer; };
}

DeliveryId accept(World& world, const std::string& order, const std::string& username,
                  const std::string& sku) {
  return world.accept(world.order(order, username, {sku})).delivery.value();
}

bool failed_unavailable(World& world, DeliveryId id) {
  return world.status(id) == "failed cloud_unavailable";
}

std::size_t entries(World& world, DeliveryId id) {
  return world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 10'000).size(); });
}

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

TEST(Trouble, OneThatFailedAloneIsProbedEachHourAndResumes) {
  World world(slow());
  fail_calls(world, "share", Fate::lose_request);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
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
  fail_calls(world, "share", Fate::fail);
  const auto id = world.deliver(testing::later(world, "1", {"sku-1"}, 0));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
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
  fail_calls(world, "share", Fate::fail);
  const auto id = world.deliver(testing::later(world, "1", {"sku-1"}, 0));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
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
  fail_calls(world, "share", Fate::fail);
  const auto id = world.deliver(testing::later(world, "1", {"sku-1"}, 0));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
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
  fail_calls(world, "share", Fate::lose_request);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
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
  fail_calls(world, "share", Fate::fail);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(75h);
  ASSERT_TRUE(failed_unavailable(world, id));
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

// ---------------------------------------------------------------- friendship

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
