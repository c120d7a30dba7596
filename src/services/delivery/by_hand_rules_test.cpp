// Deliveries that the merchant marks as delivered by hand (spec 3.1).
#include "services/delivery/end_rules_testing.h"
#include "services/delivery/event_body.h"
#include "services/delivery/items.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::EndRules;
using testing::later;
using testing::once;
using Fate = testing::FakeCloud::Fate;

class ByHandRules : public EndRules {
 protected:
  bool may_complete(DeliveryId id) {
    const auto view = world.await(world.actions.get(world.scheduler, world.merchant(), id)).value();
    return std::ranges::find(view.allowed, domain::MerchantAction::complete) != view.allowed.end();
  }
};

TEST_F(ByHandRules, WhatFailedOrWaitsIsMarkedAsDeliveredByHand) {
  world.cloud.auto_accept = false;
  const auto waiting = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), waiting)));
  EXPECT_EQ(world.status(waiting), "completed");
  EXPECT_EQ(world.items(waiting)[0].status, ItemStatus::delivered_by_hand);
  world.cloud.unknown_users = {"Nobody"};
  const auto failed = deliver(world.order("2", "Nobody", {"sku-1"}));
  ASSERT_EQ(world.status(failed), "failed username_not_found");
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), failed)));
  EXPECT_EQ(world.status(failed), "completed");
  EXPECT_EQ(world.balance().spent, 0);
}

// The merchant delivers something in place of a file whose mapping is gone.
TEST_F(ByHandRules, WhatIsPaidForAndNotMappedAnyMoreIsMarkedAsDeliveredByHand) {
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "");
  ASSERT_TRUE(retry(id));
  settle();
  ASSERT_EQ(world.delivery(id).reason, "nothing_to_deliver");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  EXPECT_TRUE(may_complete(id));
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(world.status(id), "completed");
}

// The only line was refunded; an edit then added more files than are served.
TEST_F(ByHandRules, WhatIsPaidForAndTooLargeIsMarkedAsDeliveredByHand) {
  std::vector<std::string> files;
  for (int i = 0; i <= 500; ++i) files.push_back("extra-" + std::to_string(i));
  map_all("many", files);
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  ASSERT_EQ(world.status(id), "invalidated");
  world.accept(later(world, "1", {"sku-1", "many"}, 5));
  ASSERT_EQ(reason(id), domain::ReviewReason::too_large);
  EXPECT_TRUE(may_complete(id));
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(ByHandRules, WhatNobodyPaysForIsNotMarkedAsDeliveredByHand) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  const auto refused = world.await(world.actions.complete(world.scheduler, world.merchant(), id));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "INVALID_TRANSITION");
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::dropped);
  EXPECT_FALSE(may_complete(id));
  // Nobody can say what an order pays for that is too large to be read.
  auto large = later(world, "1", {"sku-1"}, 5);
  large.too_large = true;
  large.lines.clear();
  world.accept(large);
  EXPECT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(world.status(id), "completed");
}

class DeliveredByHand : public EndRules {
 protected:
  // A delivery that the merchant marks as delivered by hand, while its share has an unknown outcome.
  void SetUp() override {
    world.cloud.before = [this](auto& call, auto&) {
      return call == "share" ? once(lost_, Fate::lose_request) : Fate::answer;
    };
    id = deliver(later(world, "1", {"sku-1"}, 0));
    ASSERT_EQ(world.items(id)[0].status, ItemStatus::sharing);
    world.accept(paid(1, domain::Payment::awaiting_payment));
    ASSERT_EQ(world.status(id), "in_review");
    ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), id)));
  }
  // Queues the delivery before the share is settled.
  void add_to_order() {
    world.hold_queue();
    world.accept(later(world, "1", {"sku-1", "sku-2"}, 2));
    ASSERT_EQ(world.status(id), "queued");
  }
  DeliveryId id;

 private:
  bool lost_ = false;  // the request of the first share was
};

TEST_F(DeliveredByHand, AFileWhoseShareIsUnknownIsReportedAsDeliveredByHand) {
  const auto items = world.items(id);
  const storage::ItemRow* const item = &items[0];
  ASSERT_EQ(item->status, ItemStatus::sharing);
  EXPECT_EQ(reported_status(*item), ItemStatus::delivered_by_hand);
  const auto body =
      delivery_event_body("uuid", domain::EventType::delivery_completed, {}, {&item, 1}, {}, {});
  EXPECT_TRUE(body.contains("\"status\":\"delivered_by_hand\"")) << body;
  const auto summary = world.write([&](storage::Tx& tx) { return summarise_items(tx, {&id, 1}); });
  EXPECT_EQ(summary.at(0).delivered, 1);
}

TEST_F(DeliveredByHand, AFileWhoseShareWasNotMadeStaysWhenTheOrderIsEdited) {
  add_to_order();
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_TRUE(has("u-ann", "file-2"));
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::delivered_by_hand);
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(DeliveredByHand, AFileWhoseShareIsUnknownIsNotOwedToANewCustomer) {
  add_to_order();
  ASSERT_TRUE(retry(id, "Bob"));
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(has("u-bob", "file-1"));
  EXPECT_TRUE(has("u-bob", "file-2"));
  EXPECT_EQ(world.balance().spent, 1);
}

}  // namespace
}  // namespace presetbridge::services
