// Taking back what was shared (spec 3.10).
#include <gtest/gtest.h>

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
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    row.auto_revoke = true;
    update_integration(tx, row);
  });
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

}  // namespace
}  // namespace presetbridge::services
