// Approvals that later events of an order, and later resumptions, leave alone (spec 2.6, 2.11, 3.1).
#include <gtest/gtest.h>

#include <thread>

#include "services/testing.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using testing::later;
using testing::World;

TEST(Approval, LeavesAnApprovalStandingWhenALaterEventReportsTheSameRisk) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(later(world, "1", {"sku-1", "sku-2"}, 1));
  domain::OrderEvent risk{
      .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  EXPECT_EQ(world.status(id), "in_review");
  domain::OrderEvent refund{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L2", 1}}}};
  world.accept(refund);
  EXPECT_EQ(world.items(id)[1].status, domain::ItemStatus::dropped) << "a refund counts in review too";
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  world.settle();
  auto again = later(world, "1", {"sku-1", "sku-2"}, 9);
  again.email = "other@example.com";
  world.accept(again);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
}

TEST(Approval, IsWantedForWhatAProgramOfBeforeReopened) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(later(world, "1", {"sku-1"}, 1));
  ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "not now")));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  // It wrote no reasons of the review, and left that of an earlier one.
  static constexpr storage::Sql kOfBefore{
      "UPDATE deliveries SET review_reasons = NULL, reason = $2 WHERE id = $1"};
  for (const auto* const reason : {"", "high_risk", "payment_withdrawn"}) {
    world.write([&](storage::Tx& tx) {
      tx.exec(kOfBefore, id, *reason ? storage::Param(reason) : storage::Param(nullptr));
    });
    EXPECT_EQ(world.delivery(id).review_reasons, domain::ReviewReason::reopened) << reason;
  }
  auto unpaid = later(world, "1", {"sku-1"}, 2);
  unpaid.payment = domain::Payment::awaiting_payment;
  for (auto event : {unpaid, later(world, "1", {"sku-1"}, 3)}) world.accept(event);
  EXPECT_EQ(world.status(id), "in_review") << "no event of the store takes it out";
}

TEST(Approval, LocksTheOrderBeforeTheDelivery) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(later(world, "1", {"sku-1"}, 1));
  domain::OrderEvent risk{
      .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  ASSERT_EQ(world.status(id), "in_review");
  const auto ask = [&](const storage::Sql& sql) {
    std::int64_t found = 0;
    world.database->read([&](storage::Tx& tx) {
      found = tx.one(sql, [](const storage::Row& r) { return r.int64(0); }).value();
    });
    return found;
  };
  static constexpr storage::Sql kWaiting{"SELECT count(*) FROM pg_locks WHERE NOT granted"};
  static constexpr storage::Sql kDeliveriesOfWaiting{
      "SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation"
      " WHERE pg_class.relname = 'deliveries' AND pg_locks.mode = 'RowShareLock'"
      " AND pg_locks.pid IN (SELECT pid FROM pg_locks WHERE NOT granted)"};
  const auto approve = [&] {
    EXPECT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  };
  if (world.database->engine() == "sqlite") {
    approve();  // one transaction writes at a time: none waits for another's locks
  } else {
    std::thread approver;
    world.database->write([&](storage::Tx& tx) {
      lock_order(tx, OrderId{id.value});  // as intake does
      approver = std::thread(approve);
      int polls = 0;
      while (ask(kWaiting) == 0 && ++polls < 10'000) {
      }
      EXPECT_LT(polls, 10'000) << "it does not wait for the order";
      EXPECT_EQ(ask(kDeliveriesOfWaiting), 0) << "intake goes on to lock the delivery";
    });
    approver.join();
  }
  EXPECT_NE(world.status(id), "in_review");
}

TEST(Approval, TakesNothingAwayWhenAMappingBecomesStale) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(later(world, "1", {"sku-1"}, 1));
  world.write([&](storage::Tx& tx) { tx.exec_script("UPDATE mappings SET stale = 1;"); });
  auto again = later(world, "1", {"sku-1"}, 2);
  again.email = "other@example.com";
  world.accept(again);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::owed);
}

domain::OrderEvent risk(bool high) {
  domain::OrderEvent event{
      .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  event.high_risk = high;
  return event;
}

domain::OrderEvent unpaid(World& world, int minute) {
  auto event = later(world, "1", {"sku-1", "sku-2"}, minute);
  event.payment = domain::Payment::awaiting_payment;
  return event;
}

// Of two files, with one credit: one is shared, then the delivery fails, and is resumed by a purchase.
void share_fail_and_resume(World& world, DeliveryId id) {
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  ASSERT_EQ(world.status(id), "failed insufficient_credits");
  world.grant(5);
  world.settle();
}

class ApprovalThatStands : public ::testing::Test {
 protected:
  ApprovalThatStands() : world(World::unlimited(), 1) {
    world.cloud.auto_accept = false;
    id = world.deliver(later(world, "1", {"sku-1", "sku-2"}, 1));
  }
  void approve() {
    ASSERT_EQ(world.status(id), "in_review");
    ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
    world.settle();
  }
  World world;
  DeliveryId id;
};

TEST_F(ApprovalThatStands, OfAHighRiskWhenAnotherFailureIsResumed) {
  world.accept(risk(true));
  approve();
  share_fail_and_resume(world, id);
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(ApprovalThatStands, OfAnUnpaidOrderWhenAnotherFailureIsResumed) {
  world.accept(unpaid(world, 2));
  approve();
  share_fail_and_resume(world, id);
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(ApprovalThatStands, OfACompletedDeliveryWhenALineIsAdded) {
  world.accept(risk(true));
  approve();
  share_fail_and_resume(world, id);
  ASSERT_EQ(world.status(id), "completed");
  world.accept(later(world, "1", {"sku-1", "sku-2", "sku-3"}, 9));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  ASSERT_EQ(world.items(id).size(), 3U);
  EXPECT_EQ(world.items(id)[2].status, domain::ItemStatus::shared);
}

TEST_F(ApprovalThatStands, OnlyOfWhatWasApproved) {
  world.accept(risk(true));
  approve();
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  ASSERT_EQ(world.status(id), "failed insufficient_credits");
  world.accept(unpaid(world, 2));
  world.grant(5);
  world.settle();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(world.delivery(id).review_reasons.gravest(), domain::ReviewReason::payment_withdrawn);
}

TEST_F(ApprovalThatStands, UntilTheRiskWasOverAndIsReportedAnew) {
  world.accept(risk(true));
  approve();
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  world.accept(risk(false));
  world.accept(risk(true));
  world.grant(5);
  world.settle();
  EXPECT_EQ(world.status(id), "in_review");
}

}  // namespace
}  // namespace presetbridge::services
