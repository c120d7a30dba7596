// A call that always fails is the trouble of its own delivery alone, and ends (spec 3.5, 3.10).
#include <gtest/gtest.h>

#include "services/testing.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;
using domain::ItemStatus;
using testing::expect_books_balance;
using testing::World;
using Fate = testing::FakeCloud::Fate;

class PersistentFailures : public ::testing::Test {
 protected:
  void fail(std::set<std::pair<std::string, std::string>> which, Fate fate = Fate::fail) {
    world.cloud.before = [which = std::move(which), fate](auto& call, auto& subject) {
      return which.contains({call, subject}) ? fate : Fate::answer;
    };
  }
  DeliveryId deliver(const std::string& id, const std::string& sku) {
    return world.deliver(world.order(id, "Ann", {sku}));
  }
  void revoke(DeliveryId id) {
    world.await(world.actions.revoke(world.scheduler, world.merchant(), id)).value();
  }
  // A file whose share's answer is lost, and one that is shared, so that shares are in no outage.
  void deliver_unknown(const std::string& n) {
    world.deliver(world.order(n, "Buyer" + n, {"sku-" + n}));
    world.deliver(world.order("well " + n, "Buyer" + n, {"sku-9"}));
  }
  bool reported(DeliveryId id, const std::string& what) {
    const auto entries = world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); });
    return std::ranges::any_of(entries, [&](const auto& entry) { return entry.message.contains(what); });
  }

  World world{WorkerOptions{.jobs_per_minute = 0, .poll = 30min, .maintenance = 5min}};
};

// Found by the simulation: the other orders of the buyer stayed queued for ever.
TEST_F(PersistentFailures, AShareThatNobodyCanLookUpKeepsNoOtherOrderFromFailingInAnOutage) {
  world.cloud.before = [](auto& call, auto&) {
    return call == "share" || call == "find_share" ? Fate::lose_request : Fate::answer;
  };
  const auto unknown = deliver("1", "sku-1");
  world.settle(10min);
  world.cloud.before = [](auto&, auto&) { return Fate::fail; };
  const auto both = world.deliver(world.order("2", "Ann", {"sku-3", "sku-1"}));
  const auto other = deliver("3", "sku-4");
  world.settle(73h);
  for (const auto id : {unknown, both, other}) EXPECT_EQ(world.status(id), "failed cloud_unavailable");
  world.cloud.before = nullptr;
  world.settle(6h);
  for (const auto id : {unknown, both, other}) EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

// The look-up of another order's share fails in an outage of look-ups meanwhile.
TEST_F(PersistentFailures, ADeliveryThatIsStoppedMeanwhileSharesNothingMore) {
  world.cloud.before = [](auto& call, auto& file) {
    if (call == "share" && file == "file-6") return Fate::fail;
    return call == "share" || call == "find_share" ? Fate::lose_request : Fate::answer;
  };
  deliver("4", "sku-4");
  const auto second = world.deliver(world.order("5", "Ann", {"sku-5", "sku-6"}));
  for (const auto* const n : {"1", "2", "3"}) deliver_unknown(n);
  world.settle(10min);
  bool stopped = false;
  world.cloud.before = [&](auto& call, auto&) {
    if (call == "find_share" && !stopped) {
      world.write([&](storage::Tx& tx) {
        auto row = *lock_delivery(tx, second);
        if (row.status != domain::DeliveryStatus::processing) return;
        row.pending = {
            .kind = domain::PendingActionKind::invalidate, .reason = "mistaken", .actor = {}, .name = {}};
        update_delivery(tx, row);
        stopped = true;
      });
    }
    return call == "find_share" ? Fate::fail : Fate::answer;
  };
  world.settle(2h);
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(world.cloud.shares.contains({"u-ann", "file-6"}));
}

TEST_F(PersistentFailures, AShareThatAlwaysFailsDelaysNoOtherOrderOfTheBuyer) {
  fail({{"share", "file-1"}});
  const auto stuck = deliver("1", "sku-1");
  for (int day = 0; day < 3; ++day) {
    const auto next = deliver("later " + std::to_string(day), "sku-" + std::to_string(day + 2));
    EXPECT_EQ(world.status(next), "completed") << day;
    world.settle(23h + 30min);
    EXPECT_EQ(world.status(stuck), "queued") << day;
  }
  EXPECT_LT(world.cloud.count("share"), 250);
  world.settle(5h);
  EXPECT_EQ(world.status(stuck), "failed cloud_unavailable")
      << "what succeeds for others is no progress of it";
  fail({});
  world.settle(2h);
  EXPECT_EQ(world.status(stuck), "completed") << "probed";
  expect_books_balance(world);
}

TEST_F(PersistentFailures, WhatIsOwedWithItIsDeliveredByTheSameJob) {
  fail({{"share", "file-1"}});
  world.hold_queue();
  const auto stuck = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  const auto other = world.accept(world.order("2", "Ann", {"sku-2"})).delivery.value();
  world.settle();
  EXPECT_EQ(world.status(other), "completed");
  EXPECT_EQ(world.status(stuck), "queued");
  EXPECT_TRUE(world.delivery(stuck).next_attempt_at);
}

TEST_F(PersistentFailures, AShareThatCannotBeLookedUpDelaysNoOtherOrderOfTheBuyer) {
  world.cloud.before = [](auto& call, auto& subject) {
    if (subject != "file-1") return Fate::answer;
    return call == "share" ? Fate::lose_answer : call == "find_share" ? Fate::fail : Fate::answer;
  };
  const auto unknown = deliver("1", "sku-1");
  world.settle(1h);
  ASSERT_EQ(world.items(unknown)[0].status, ItemStatus::sharing);
  const auto other = deliver("2", "sku-2");
  EXPECT_EQ(world.status(other), "completed");
  const auto same_file = deliver("3", "sku-1");
  EXPECT_EQ(world.status(same_file), "queued") << "nobody knows whether they have it";
  EXPECT_LT(world.cloud.count("find_share"), 30);
  world.settle(75h);
  EXPECT_LT(world.cloud.count("find_share"), 250);
  EXPECT_EQ(world.status(unknown), "failed cloud_unavailable");
  EXPECT_EQ(world.status(same_file), "failed cloud_unavailable") << "it waits for the same, and no longer";
  fail({});
  world.settle(3h);
  EXPECT_EQ(world.status(unknown), "completed");
  EXPECT_EQ(world.status(same_file), "completed");
  EXPECT_EQ(world.balance().held, 0);
  EXPECT_EQ(world.balance().spent, 2) << "file-1 once, and file-2";
}

TEST_F(PersistentFailures, AShareThatNobodyCanLookUpHoldsItsCreditUntilThePlatformAnswers) {
  world.cloud.before = [](auto& call, auto&) {
    return call == "share" ? Fate::lose_request : call == "find_share" ? Fate::fail : Fate::answer;
  };
  const auto id = deliver("1", "sku-1");
  world.settle(200h);
  EXPECT_EQ(world.status(id), "failed cloud_unavailable");
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  EXPECT_EQ(world.balance().held, 1);
  EXPECT_EQ(world.cloud.count("share"), 1) << "nobody knows whether they have it";
  const auto calls = world.cloud.count("find_share");
  world.settle(24h);
  EXPECT_GE(world.cloud.count("find_share"), calls + 23) << "as soon as the platform can be asked again";
  EXPECT_LE(world.cloud.count("find_share"), calls + 25);
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::reject : Fate::answer; };
  world.settle(2h);
  EXPECT_EQ(world.status(id), "failed cloud_rejected") << "it was not made, and cannot be";
  EXPECT_EQ(world.balance().held, 0);
  EXPECT_EQ(world.balance().spent, 0);
}

TEST_F(PersistentFailures, ANewOrderOfTheFileWaitsThreeDaysForAShareThatNobodyCanLookUp) {
  world.cloud.before = [](auto& call, auto&) {
    return call == "share" ? Fate::lose_answer : call == "find_share" ? Fate::fail : Fate::answer;
  };
  const auto first = deliver("1", "sku-1");
  world.settle(200h);
  ASSERT_EQ(world.status(first), "failed cloud_unavailable");
  const auto second = deliver("2", "sku-1");
  world.settle(60h);
  EXPECT_EQ(world.status(second), "queued");
  world.settle(20h);
  EXPECT_EQ(world.status(second), "failed cloud_unavailable");
  fail({});
  world.settle(2h);
  for (const auto id : {first, second}) EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_EQ(world.balance().held, 0);
}

TEST_F(PersistentFailures, AShareOfAnOrderThatIsCancelledInALongOutageIsChargedHoweverLateItIsFound) {
  world.cloud.before = [](auto& call, auto&) {
    return call == "share" ? Fate::lose_answer : call == "find_share" ? Fate::fail : Fate::answer;
  };
  auto event = world.order("1", "Ann", {"sku-1"});
  event.provider = domain::Provider::provider_a;
  const auto id = world.deliver(event);
  event.payment = domain::Payment::cancelled;
  world.accept(event);
  ASSERT_EQ(world.status(id), "invalidated");
  world.settle(200h);
  fail({});
  world.settle(2h);
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_EQ(world.balance().held, 0);
}

TEST_F(PersistentFailures, AShareThatThePlatformRefusesToLookUpHoldsItsCreditForThreeDays) {
  world.cloud.before = [](auto& call, auto&) {
    return call == "share" ? Fate::lose_request : call == "find_share" ? Fate::blocked : Fate::answer;
  };
  const auto id = deliver("1", "sku-1");
  world.settle(71h);
  EXPECT_EQ(world.balance().held, 1);
  // Probes of the failed delivery would hold the credit again.
  world.cloud.before = [](auto& call, auto&) { return call == "find_share" ? Fate::blocked : Fate::reject; };
  world.settle(3h);
  EXPECT_EQ(world.balance().held, 0);
  EXPECT_TRUE(reported(id, "It counts as not shared."));
}

TEST_F(PersistentFailures, ALookUpThatNeverSucceedsFailsItsOrderAlsoForABuyerOfManyOrders) {
  world.cloud.before = [](auto& call, auto& file) {
    if (call == "find_share") return Fate::fail;
    return call != "share" ? Fate::answer : file == "file-1" ? Fate::lose_request : Fate::fail;
  };
  const auto unknown = deliver("unknown", "sku-1");
  world.settle(71h);
  ASSERT_EQ(world.items(unknown)[0].status, ItemStatus::sharing);
  // Enough other orders that it is not among those that a job works on.
  world.hold_queue();
  for (int i = 0; i < 120; ++i) world.accept(world.order(std::to_string(i), "Ann", {"sku-2"}));
  world.settle(5h);
  EXPECT_EQ(world.status(unknown), "failed cloud_unavailable");
  EXPECT_EQ(world.balance().held, 1);
}

TEST_F(PersistentFailures, WhileOneShareIsUnknownOnlyTheSameFileWaits) {
  world.cloud.before = [](auto& call, auto& file) {
    if (file != "file-1") return Fate::answer;
    return call == "share" ? Fate::lose_answer : call == "find_share" ? Fate::fail : Fate::answer;
  };
  world.hold_queue();
  std::vector<DeliveryId> others;
  const auto unknown = world.accept(world.order("unknown", "Ann", {"sku-1"})).delivery.value();
  for (int i = 0; i < 250; ++i)
    others.push_back(world.accept(world.order(std::to_string(i), "Ann", {"sku-2"})).delivery.value());
  const auto same_file = world.accept(world.order("same", "Ann", {"sku-1"})).delivery.value();
  world.settle(5s);
  for (const auto id : others) ASSERT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.status(same_file), "queued");
  EXPECT_EQ(world.items(unknown)[0].status, ItemStatus::sharing);
  EXPECT_EQ(world.cloud.count("find_share"), 0);
}

TEST_F(PersistentFailures, AFileWhoseRevocationFailsStartsNoJobsWithoutEndForAnOrderOfIt) {
  revoke(deliver("1", "sku-1"));
  fail({{"revoke", "file-1"}});
  revoke(deliver("2", "sku-1"));
  world.settle(1h);
  const auto next = deliver("3", "sku-1");
  world.settle(10s);
  const auto attempts = world.delivery(next).attempt_count;
  world.settle(10s);
  EXPECT_LE(world.delivery(next).attempt_count, attempts + 1);
}

TEST_F(PersistentFailures, ALookUpThatIsRefusedIsNoTroubleOfTheAccount) {
  world.cloud.before = [](auto& call, auto& file) {
    return call == "share" && file != "file-9" ? Fate::lose_answer
           : call == "find_share"              ? Fate::blocked
                                               : Fate::answer;
  };
  for (const std::string n : {"1", "2", "3", "4"}) deliver_unknown(n);
  world.settle(1h);
  EXPECT_EQ(world.queue().trouble, "");
  EXPECT_EQ(world.balance().held, 4);
  world.settle(74h);
  EXPECT_LT(world.cloud.count("find_share"), 1'000);
}

TEST_F(PersistentFailures, ALookUpThatIsRefusedEndsTheOutageOfLookUps) {
  world.cloud.before = [](auto& call, auto& file) {
    return call == "share" && file != "file-9" ? Fate::lose_answer
           : call == "find_share"              ? Fate::fail
                                               : Fate::answer;
  };
  for (const std::string n : {"1", "2", "3"}) deliver_unknown(n);
  world.settle(10min);
  ASSERT_NE(world.queue().trouble, "");
  world.cloud.before = [](auto& call, auto&) { return call == "find_share" ? Fate::blocked : Fate::answer; };
  world.settle(5min);
  EXPECT_EQ(world.queue().trouble, "");
}

TEST_F(PersistentFailures, ARevocationThatAlwaysFailsEndsAndIsReported) {
  const auto id = deliver("1", "sku-1");
  fail({{"revoke", "file-1"}});
  revoke(id);
  world.settle(71h);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoking);
  world.settle(3h);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed);
  EXPECT_TRUE(reported(id, "The share of File 1 could not be taken back"));
  const auto calls = world.cloud.count("revoke");
  EXPECT_LT(calls, 250);
  world.settle(5h);
  EXPECT_EQ(world.cloud.count("revoke"), calls);
  EXPECT_EQ(world.status(id), "completed");
  fail({});
  revoke(id);
  world.settle();
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoked) << "by hand, once the platform answers";
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(PersistentFailures, ARevocationThatAlwaysFailsDelaysAndFailsNoOrderOfTheBuyer) {
  const auto id = deliver("1", "sku-1");
  fail({{"revoke", "file-1"}});
  revoke(id);
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::none;
  const auto of = world.delivery(id).customer;
  world.write([&](storage::Tx& tx) {
    auto customer = *lock_customer(tx, of);
    customer.friendship = storage::Friendship::none;
    update_customer(tx, customer);
  });
  world.cloud.auto_accept = false;
  world.settle(1h);
  const auto next = deliver("2", "sku-2");
  EXPECT_EQ(world.status(next), "waiting_for_friendship");
  world.settle(76h);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed);
  EXPECT_EQ(world.status(next), "waiting_for_friendship");
}

TEST_F(PersistentFailures, RevocationsThatFailAreNoTroubleOfTheAccount) {
  std::vector<DeliveryId> all;
  for (int i = 1; i <= 4; ++i) all.push_back(deliver(std::to_string(i), "sku-" + std::to_string(i)));
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::fail : Fate::answer; };
  for (const auto id : all) revoke(id);
  world.settle(1h);
  EXPECT_EQ(world.queue().trouble, "");
  EXPECT_EQ(world.status(world.deliver(world.order("5", "Bob", {"sku-1"}))), "completed");
  world.settle(74h);
  for (const auto id : all) EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed);
}

TEST_F(PersistentFailures, OneFileThatCannotBeTakenBackKeepsNoOtherOfItsOrder) {
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2", "sku-3"}));
  fail({{"revoke", "file-1"}});
  revoke(id);
  world.settle(75h);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed);
  EXPECT_EQ(world.items(id)[1].status, ItemStatus::revoked);
  EXPECT_EQ(world.items(id)[2].status, ItemStatus::revoked);
}

TEST_F(PersistentFailures, EachHasItsOwnThreeDays) {
  const auto id = deliver("1", "sku-1");
  fail({{"revoke", "file-1"}, {"share", "file-2"}});
  revoke(id);
  world.settle(1h);
  const auto stuck = deliver("2", "sku-2");
  world.settle(74h);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed);
  world.settle(2h);
  EXPECT_EQ(world.status(stuck), "failed cloud_unavailable");
}

TEST_F(PersistentFailures, ARequestThatCannotBeTakenBackIsGivenUp) {
  world.cloud.auto_accept = false;
  const auto id = deliver("1", "sku-1");
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  fail({{"withdraw", "u-ann"}});
  world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Bob")).value();
  world.settle(75h);
  const auto calls = world.cloud.count("withdraw");
  EXPECT_GT(calls, 50);
  EXPECT_LT(calls, 250);
  world.settle(5h);
  EXPECT_EQ(world.cloud.count("withdraw"), calls);
}

}  // namespace
}  // namespace presetbridge::services
