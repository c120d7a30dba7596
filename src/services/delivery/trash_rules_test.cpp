// The effects of the trash of a shop on deliveries, those that were approved after a stop included (spec 2.11).
#include "services/delivery/end_rules_testing.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::EndRules;
using testing::later;
using testing::once;
using Fate = testing::FakeCloud::Fate;

TEST_F(EndRules, TheTrashTakesNothingBackAndRestoringGoesOn) {
  auto_revoke();
  world.cloud.auto_accept = false;
  const auto waiting = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(trash(1));
  EXPECT_EQ(world.status(waiting), "invalidated");
  auto restored = of_plugin(later(world, "1", {"sku-1"}, 2));
  restored.restored = true;
  world.accept(restored);
  world.cloud.accept("u-ann");
  settle();
  EXPECT_EQ(world.status(waiting), "completed");
  world.accept(deletion());
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_TRUE(world.delivery(waiting).cancelled);
}

TEST_F(EndRules, ACancellationAfterTheTrashTakesBackWhatWasApprovedBetween) {
  auto_revoke();
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(trash(1));
  reopen_and_approve(id);
  settle();
  ASSERT_TRUE(has("u-ann", "file-1"));
  world.accept(of_plugin(paid(2, domain::Payment::cancelled)));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1")) << "stopped anew, and not by the trash";
}

TEST_F(EndRules, TheTrashTakesNothingBackThatWasApprovedAfterARefund) {
  auto_revoke();
  const auto id = deliver(of_plugin(paid(0, domain::Payment::deliver)));
  world.accept(of_plugin(paid(1, domain::Payment::refunded)));
  settle();
  ASSERT_FALSE(has("u-ann", "file-1"));
  reopen_and_approve(id);
  settle();
  ASSERT_TRUE(has("u-ann", "file-1"));
  world.accept(trash(2));
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.delivery(id).cancelled);
  auto restored = of_plugin(paid(3, domain::Payment::refunded));
  restored.restored = true;
  world.accept(restored);
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
  world.accept(of_plugin(paid(4, domain::Payment::cancelled)));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1")) << "stopped anew";
}

TEST_F(EndRules, TheTrashTakesNothingBackThatARefundHadLeft) {
  deliver(of_plugin(paid(0, domain::Payment::deliver)));
  world.accept(of_plugin(paid(1, domain::Payment::refunded)));
  settle();
  ASSERT_TRUE(has("u-ann", "file-1"));
  auto_revoke();
  world.accept(deletion());
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
}

class ApprovedAfterAStop : public EndRules {
 protected:
  // A delivery that was stopped in a store that wants files taken back, and was approved since. Its share has
  // been made, but the platform has not answered.
  void share_while_held() {
    auto_revoke();
    id = deliver(of_plugin(paid(0, domain::Payment::deliver)));
    world.accept(of_plugin(paid(1, domain::Payment::refunded)));
    settle();
    world.cloud.before = [this](auto& call, auto&) {
      return call == "share" ? once(held_, Fate::hold_done) : Fate::answer;
    };
    reopen_and_approve(id);
    settle(Millis{5'000});
    ASSERT_EQ(world.status(id), "processing");
  }
  DeliveryId id;

 private:
  bool held_ = false;
};

TEST_F(ApprovedAfterAStop, AShareThatIsUnderWayIsNotTakenBackByTheTrash) {
  ASSERT_NO_FATAL_FAILURE(share_while_held());
  world.accept(trash(2));
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(ApprovedAfterAStop, AShareThatIsUnderWayIsTakenBackWhenItsLineIsRefunded) {
  ASSERT_NO_FATAL_FAILURE(share_while_held());
  world.accept(refund("r1", {{"L1", 1}}));
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(ApprovedAfterAStop, AFileThatWaitsIsDroppedWhenItsLineIsRefunded) {
  world.cloud.auto_accept = false;
  id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  ASSERT_EQ(world.status(id), "invalidated");
  reopen_and_approve(id);
  settle();
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  world.accept(refund("r1", {{"L1", 1}}));
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::dropped);
  world.accept(refund("r2", {{"L2", 1}}));
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "order_refunded");
  world.cloud.accept("u-ann");
  settle(std::chrono::hours{1});
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST_F(ApprovedAfterAStop, ASharedFileIsTakenBackWhenItsLineIsRefunded) {
  auto_revoke();
  id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  settle();
  reopen_and_approve(id);
  settle();
  ASSERT_EQ(world.cloud.shares.size(), 2u);
  auto refunded = paid(2, domain::Payment::cancelled, {"sku-1", "sku-2"});
  refunded.refunds = {{"r1", {{"L1", 1}}}};
  world.accept(refunded);
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_TRUE(has("u-ann", "file-2"));
}

}  // namespace
}  // namespace presetbridge::services
