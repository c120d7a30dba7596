// Revocations of shares (spec 3.10).
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

TEST(Revocation, RevokesWhatWasSharedWithoutTouchingCreditsOrStatus) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), id)));
  world.settle();
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST(Revocation, AShareThatTwoOrdersStandOnIsTakenBackWithTheSecondOfThem) {
  World world;
  const auto a = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto b = world.deliver(world.order("2", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), a)));
  world.settle();
  EXPECT_EQ(world.items(a)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.items(b)[0].status, domain::ItemStatus::shared);
  EXPECT_EQ(world.cloud.shares.size(), 1u);

  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), b)));
  world.settle();
  EXPECT_EQ(world.items(b)[0].status, domain::ItemStatus::revoked);
  EXPECT_TRUE(world.cloud.shares.empty());
  EXPECT_EQ(world.balance().spent, 1);

  const auto c = world.deliver(world.order("3", "Ann", {"sku-1"}));
  EXPECT_EQ(world.items(c)[0].status, domain::ItemStatus::shared);
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  EXPECT_EQ(world.balance().spent, 2);
}

TEST(Revocation, AnOrderThatStoodOnAnothersShareGivesItUpWithoutTakingItBack) {
  World world;
  const auto a = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto b = world.deliver(world.order("2", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), b)));
  world.settle();
  EXPECT_EQ(world.items(b)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), a)));
  world.settle();
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST(Revocation, EndsARevocationFromACustomerWhoIsGone) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::user_gone : Fate::answer; };
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), id)));
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.cloud.count("revoke"), 1);
}

TEST(Revocation, RevokesAShareThatWasOnItsWayWhenTheOrderStopped) {
  World world;
  world.auto_revoke();
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(held, Fate::hold_done) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  domain::OrderEvent stop{
      .kind = domain::OrderEvent::Kind::stop, .provider = domain::Provider::provider_b, .order_id = "1"};
  stop.payment = domain::Payment::cancelled;
  world.accept(stop);
  world.cloud.release();
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::revoked);
  EXPECT_TRUE(world.cloud.shares.empty());
  EXPECT_EQ(world.balance().spent, 1) << "a revocation returns no credit (spec 3.10)";
}

// Another node takes back what former customers got, while one of them is given a file anew.
TEST(Revocation, OfAFormerCustomersFileSeesWhoIsGivenItMeanwhile) {
  World world;
  static constexpr storage::Sql kWaiting{
      "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"};
  const auto cid = world.delivery(world.deliver(world.order("1", "Cid", {"sku-9"}))).customer;
  const auto id = world.deliver(world.order("2", "Ann", {"sku-1"}));
  for (const char* name : {"Cid", "Bob"}) {
    ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
    ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, name)));
    ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
    world.settle();
  }
  RevokeQuery former;
  for (const auto& item : world.items(id)) {
    if (item.former) former.items.push_back(item.id);
  }
  ASSERT_EQ(former.items.size(), 2u);

  const auto revoke = [&] {
    testing::VirtualScheduler scheduler{world.database.clock};
    storage::AsyncDatabase async_db{*world.database, world.log, {.inline_execution = true}};
    IdSource ids{world.database.clock, 2};
    DeliveryChanges changes{ids, world.random};
    DeliveryActions actions{async_db, changes, 0, [] {}};
    bool revoked = false;
    spawn(actions.revoke(scheduler, world.merchant(), id, former),
          [&](auto outcome) { revoked = outcome.value && outcome.value->has_value(); });
    scheduler.run();
    EXPECT_TRUE(revoked);
  };
  DeliveryId given;
  if (world.database->engine() == "sqlite") {
    given = world.deliver(world.order("3", "Ann", {"sku-1"}));  // one transaction writes at a time
    revoke();
  } else {
    std::promise<void> held;
    std::promise<void> let_go;
    std::jthread holder([&] {
      world.database->write([&](storage::Tx& tx) {
        lock_customer(tx, cid);
        held.set_value();
        let_go.get_future().wait_for(std::chrono::seconds{30});
      });
    });
    held.get_future().wait();
    std::jthread other_node(revoke);
    const auto waiting = [&] {
      return world.write([](storage::Tx& tx) {
        return tx.one(kWaiting, [](const storage::Row& r) { return r.int64(0); }).value();
      });
    };
    for (int polls = 0; waiting() == 0; ++polls) ASSERT_LT(polls, 20'000) << "nobody waits";
    given = world.deliver(world.order("3", "Ann", {"sku-1"}));
    let_go.set_value();
    other_node.join();
  }
  EXPECT_EQ(world.status(given), "completed");
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.items(given)[0].status, domain::ItemStatus::shared);
  EXPECT_TRUE(world.cloud.shares.contains({"u-ann", "file-1"})) << "it counts as shared";
  EXPECT_FALSE(world.cloud.shares.contains({"u-cid", "file-1"}));
  EXPECT_TRUE(world.cloud.shares.contains({"u-bob", "file-1"}));
}

}  // namespace
}  // namespace presetbridge::services
