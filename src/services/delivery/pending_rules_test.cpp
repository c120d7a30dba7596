// Pending actions, which wait for the job in progress, and the obstacles to queueing a delivery again
// (spec 2.6, 2.11, 3.1, 3.10, 3.11), as the merchant sees it.
#include <gtest/gtest.h>

#include "services/delivery/order_rules_testing.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::OrderEvent;
using domain::Payment;
using domain::ReviewReason;
using testing::expect_books_balance;
using testing::later;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

class PendingRules : public testing::OrderRules {
 protected:
  // An event of the order that the store dates so long before now.
  OrderEvent named(const std::string& name, Millis ago, std::vector<std::string> skus = {"sku-1"}) {
    auto event = later(world, "1", std::move(skus), 0);
    event.username = event.raw_username = name;
    event.updated_at = world.database.clock.now() - ago;
    return event;
  }
  static OrderEvent of_kind(OrderEvent::Kind kind) {
    return {.kind = kind, .provider = domain::Provider::provider_a, .order_id = "1"};
  }
  static OrderEvent risk() {
    auto event = of_kind(OrderEvent::Kind::risk);
    event.high_risk = true;
    return event;
  }
  static OrderEvent unread_refund() {
    auto event = of_kind(OrderEvent::Kind::refund);
    event.too_many_refund_lines = true;
    return event;
  }
  static OrderEvent refund_of_line(const std::string& line) {
    auto event = of_kind(OrderEvent::Kind::refund);
    event.refunds = {{"refund of " + line, {{line, 1}}}};
    return event;
  }
  // The first call of that kind is held: its delivery is in processing meanwhile.
  void hold_first(const std::string& call, Fate fate = Fate::hold) {
    world.cloud.before = [this, call, fate](auto& made, auto&) {
      return made == call ? once(held_, fate) : Fate::answer;
    };
  }
  DeliveryId deliver_while_held(const OrderEvent& event, const std::string& call, Fate fate = Fate::hold) {
    hold_first(call, fate);
    const auto id = world.deliver(event);
    EXPECT_EQ(world.status(id), "processing");
    return id;
  }
  void release(Millis time = std::chrono::minutes{2}) {
    world.cloud.release();
    world.settle(time);
  }
  Expected<DeliveryView> retry(DeliveryId id, std::optional<std::string> name = std::nullopt) {
    return world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::move(name)));
  }
  Expected<DeliveryView> approve(DeliveryId id) {
    return world.await(world.actions.approve(world.scheduler, world.merchant(), id));
  }
  Expected<DeliveryView> reopen(DeliveryId id) {
    return world.await(world.actions.reopen(world.scheduler, world.merchant(), id));
  }
  // Whom the newest entry of the timeline names that shows the delivery in this status.
  std::string actor_of(DeliveryId id, domain::DeliveryStatus status) {
    const auto entries = world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); });
    const auto found = std::ranges::find(entries, to_string(status), &storage::TimelineEntry::status);
    return found == entries.end() ? "" : found->actor;
  }
  bool has(const std::string& user, const std::string& file) const {
    return world.cloud.shares.contains({user, file});
  }
  bool reviewed_for(DeliveryId id, std::initializer_list<ReviewReason> reasons) {
    domain::ReviewReasons wanted;
    for (const auto reason : reasons) wanted.add(reason);
    return world.delivery(id).review_reasons == wanted;
  }
  // A delivery that failed because its file is not there.
  DeliveryId failed() {
    world.cloud.unknown_files = {"file-1"};
    const auto id = world.deliver(paid(0, Payment::deliver));
    world.settle();
    EXPECT_EQ(world.status(id), "failed preset_not_found");
    world.cloud.unknown_files = {};
    return id;
  }
  // ... for want of a name.
  DeliveryId unnamed() {
    auto event = named("", std::chrono::hours{3});
    const auto id = *world.accept(event).delivery;
    EXPECT_EQ(world.status(id), "failed username_missing");
    return id;
  }
  bool held_ = false;
};

// ---------------------------------------------------------------- nothing owed any more

TEST_F(PendingRules, ARefundOfEveryLineWhileTheBuyerIsLookedUpSendsNoFriendRequest) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  world.accept(refund_of_line("L1"));
  release();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "order_refunded");
  EXPECT_EQ(world.cloud.requests["u-ann"], 0);
}

TEST_F(PendingRules, TheOtherOrdersOfThatBuyerGoOn) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  const auto other = world.deliver(world.order("2", "Ann", {"sku-2"}));
  world.accept(refund_of_line("L1"));
  release();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.status(other), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
}

TEST_F(PendingRules, ARefundOfEveryLineWhileItWaitsForAReviewEndsTheDelivery) {
  hold_all();
  const auto id = *world.accept(paid(0, Payment::deliver)).delivery;
  hold_first("find_user");
  ASSERT_TRUE(approve(id));
  world.settle();
  ASSERT_EQ(world.status(id), "processing");
  world.accept(paid(1, Payment::deliver, {"sku-1", "sku-2"}));
  world.accept(refund_of_line("L1"));
  world.accept(refund_of_line("L2"));
  release();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.cloud.requests["u-ann"], 0);
}

// ---------------------------------------------------------------- names that wait

TEST_F(PendingRules, AMerchantsNameCountsAfterAStopThatWasWithdrawnThoughSomethingWasShared) {
  const auto id = deliver_while_held(paid(0, Payment::deliver, {"sku-1", "sku-2"}), "share", Fate::hold_done);
  ASSERT_TRUE(retry(id, "Bob"));
  world.accept(paid(1, Payment::cancelled, {"sku-1", "sku-2"}));
  world.accept(paid(2, Payment::deliver, {"sku-1", "sku-2"}));
  const auto sequence = world.delivery(id).sequence;
  release();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_TRUE(has("u-bob", "file-2"));
  EXPECT_FALSE(has("u-ann", "file-2"));
  EXPECT_EQ(world.delivery(id).sequence, sequence + 2) << "delivery.queued of the retry, delivery.completed";
  expect_books_balance(world);
}

TEST_F(PendingRules, AMerchantsNameCountsBesideAStopThoughSomethingWasShared) {
  const auto id = deliver_while_held(paid(0, Payment::deliver, {"sku-1", "sku-2"}), "share", Fate::hold_done);
  ASSERT_TRUE(retry(id, "Bob"));
  world.accept(paid(1, Payment::cancelled, {"sku-1", "sku-2"}));
  release();
  EXPECT_EQ(world.delivery(id).username, "Bob");
  world.accept(paid(2, Payment::deliver, {"sku-1", "sku-2"}));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_TRUE(has("u-bob", "file-2"));
}

TEST_F(PendingRules, AStoresNameThatWaitsWasGivenWhenTheStoreSays) {
  world.cloud.auto_accept = false;
  const auto id = deliver_while_held(named("Ann", std::chrono::hours{3}), "find_user");
  world.accept(named("Bob", std::chrono::hours{2}));
  ASSERT_TRUE(retry(id)) << "which gives no name";
  release();
  ASSERT_EQ(world.delivery(id).username, "Bob");
  world.accept(named("Cid", std::chrono::hours{1}));
  EXPECT_EQ(world.delivery(id).username, "Cid");
}

TEST_F(PendingRules, AMerchantsNameThatWaitsIsNewerThanTheStoresOfBefore) {
  world.cloud.auto_accept = false;
  const auto id = deliver_while_held(named("Ann", std::chrono::hours{3}), "find_user");
  ASSERT_TRUE(retry(id, "Bob"));
  world.accept(named("Cid", std::chrono::hours{1}));
  release();
  EXPECT_EQ(world.delivery(id).username, "Bob");
}

TEST_F(PendingRules, AMerchantWhoNamesTheSameCustomerAnewGaveTheNameThen) {
  world.cloud.auto_accept = false;
  const auto id = deliver_while_held(named("Ann", std::chrono::hours{3}), "find_user");
  ASSERT_TRUE(retry(id, "Ann"));
  release();
  world.accept(named("Cid", std::chrono::hours{1}));
  EXPECT_EQ(world.delivery(id).username, "Ann");
}

TEST_F(PendingRules, ANameThatIsGivenOnceItIsQueuedReplacesOneThatStillWaits) {
  const auto first = world.deliver(world.order("0", "Ann", {"sku-9"}));
  ASSERT_EQ(world.status(first), "completed");
  // The same user by another name: the delivery goes over to the customer that is known, and waits there.
  const auto id = deliver_while_held(named("ANN", std::chrono::hours{3}), "find_user");
  ASSERT_TRUE(retry(id, "Bob"));
  world.hold_queue();
  world.cloud.release();
  world.settle(Millis{0});
  ASSERT_EQ(world.status(id), "queued");
  ASSERT_TRUE(retry(id, "Cid"));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.delivery(id).username, "Cid");
  EXPECT_FALSE(has("u-bob", "file-1"));
}

// ---------------------------------------------------------------- reasons that wait

TEST_F(PendingRules, OfSeveralReasonsThatComeDuringAJobAllAreKept) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  world.accept(risk());
  world.accept(paid(1, Payment::awaiting_payment));
  world.accept(unread_refund());
  release();
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_TRUE(
      reviewed_for(id, {ReviewReason::high_risk, ReviewReason::payment_withdrawn, ReviewReason::too_large}));
  world.accept(paid(2, Payment::deliver));
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk, ReviewReason::too_large}));
  ASSERT_TRUE(approve(id));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(PendingRules, AReasonThatComesBeforeTheMerchantReopensIsKept) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  world.accept(risk());
  ASSERT_TRUE(reopen(id));
  release();
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk, ReviewReason::reopened}));
}

TEST_F(PendingRules, AReasonOutlivesAStopThatIsWithdrawn) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  hold_all();
  world.accept(paid(1, Payment::deliver, {"sku-1", "sku-2"}));
  world.accept(paid(2, Payment::cancelled, {"sku-1", "sku-2"}));
  world.accept(paid(3, Payment::deliver, {"sku-1", "sku-2"}));
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::held}));
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST_F(PendingRules, AReopeningOutlivesAStopThatIsWithdrawn) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  ASSERT_TRUE(reopen(id));
  world.accept(paid(1, Payment::cancelled));
  world.accept(paid(2, Payment::deliver));
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::reopened}));
  EXPECT_EQ(actor_of(id, domain::DeliveryStatus::in_review), to_string(world.merchant().actor()));
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST_F(PendingRules, AStopAfterAReopeningDropsWhatIsNotSharedAndLeavesTheReview) {
  const auto id = deliver_while_held(paid(0, Payment::deliver, {"sku-1", "sku-2"}), "share", Fate::hold_done);
  ASSERT_TRUE(reopen(id));
  world.accept(paid(1, Payment::cancelled, {"sku-1", "sku-2"}));
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::reopened}));
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.items(id)[1].status, ItemStatus::dropped);
}

TEST_F(PendingRules, AStopEndsAReopeningWhereNothingWasShared) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  ASSERT_TRUE(reopen(id));
  world.accept(paid(1, Payment::cancelled));
  release();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "order_cancelled");
  EXPECT_EQ(actor_of(id, domain::DeliveryStatus::invalidated), "order");
  world.accept(paid(2, Payment::deliver));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(PendingRules, APaymentThatReturnsTakesItsOwnReasonAlone) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  world.accept(paid(1, Payment::awaiting_payment));
  world.accept(risk());
  world.accept(paid(2, Payment::deliver));
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk}));
}

TEST_F(PendingRules, AStopIsWithdrawnByAPaidEventThatBringsANewReason) {
  const auto id = deliver_while_held(paid(0, Payment::deliver), "find_user");
  world.accept(paid(1, Payment::cancelled));
  auto again = paid(2, Payment::deliver);
  again.high_risk = true;
  world.accept(again);
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk}));
}

// ---------------------------------------------------------------- owed again after a revocation

TEST_F(PendingRules, WhatIsOwedAgainOnceItWasTakenBackIsHeldWhereTheStoreHoldsAll) {
  auto_revoke();
  const auto id = world.deliver(paid(0, Payment::deliver));
  hold_first("revoke");
  world.accept(paid(1, Payment::cancelled));
  world.settle();
  ASSERT_EQ(world.cloud.held(), 1u);
  hold_all();
  world.accept(paid(2, Payment::deliver));
  ASSERT_EQ(world.status(id), "completed");
  const auto sequence = world.delivery(id).sequence;
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::held}));
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_EQ(world.delivery(id).sequence, sequence) << "nobody hears that it was queued";
  ASSERT_TRUE(approve(id));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(PendingRules, WhatIsOwedAgainOnceItWasTakenBackIsReviewedWhileTheRiskIsNotApproved) {
  auto_revoke();
  const auto id = world.deliver(paid(0, Payment::deliver));
  hold_first("revoke");
  world.accept(paid(1, Payment::cancelled));
  world.settle();
  ASSERT_EQ(world.cloud.held(), 1u);
  world.accept(risk());
  world.accept(paid(2, Payment::deliver));
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk}));
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(PendingRules, WhatIsOwedAgainBringsAnOpenDeliveryToReviewWhereTheStoreHoldsAll) {
  auto_revoke();
  const auto id = world.deliver(paid(0, Payment::deliver));
  hold_first("revoke");
  world.accept(paid(1, Payment::cancelled));
  world.settle();
  ASSERT_EQ(world.cloud.held(), 1u);
  world.accept(paid(2, Payment::deliver, {"sku-1", "sku-2"}));
  ASSERT_EQ(world.status(id), "queued");
  hold_all();
  release();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::held}));
  EXPECT_TRUE(world.cloud.shares.empty());
}

// ---------------------------------------------------------------- what nobody approved

TEST_F(PendingRules, ARetryDoesNotDeliverWhatNobodyApproved) {
  const auto id = failed();
  world.accept(risk());
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  const auto sequence = world.delivery(id).sequence;
  const auto view = retry(id);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->row.status, domain::DeliveryStatus::in_review);
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk}));
  EXPECT_EQ(world.delivery(id).sequence, sequence) << "nobody hears that it was queued";
  world.settle();
  EXPECT_TRUE(world.cloud.shares.empty());
  ASSERT_TRUE(approve(id));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(PendingRules, AResumptionDoesNotDeliverWhatNobodyApprovedAndNotifiesNobodyThatItWasQueued) {
  const auto id = failed();
  world.accept(risk());
  world.accept(unread_refund());
  const auto sequence = world.delivery(id).sequence;
  set_store([](auto&) {});
  world.write([&](storage::Tx& tx) {
    auto mappings = find_mappings(tx, world.integration);
    for (auto& m : mappings) {
      if (m.mapping.value == "sku-1") m.mapping.file_id = "file-found";
    }
    replace_mappings(tx, world.integration, mappings);
    add_account_task(tx, world.account, storage::AccountTaskKind::resume_mappings);
  });
  world.worker->wake();
  world.settle();
  EXPECT_EQ(world.status(id), "in_review order_too_large") << "the code of one reason among several";
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk, ReviewReason::too_large}));
  EXPECT_EQ(world.delivery(id).sequence, sequence);
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST_F(PendingRules, ANameThatComesWithARiskResumesNothing) {
  const auto id = unnamed();
  const auto sequence = world.delivery(id).sequence;
  auto event = named("Ann", std::chrono::hours{1});
  event.high_risk = true;
  world.accept(event);
  world.settle();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(world.delivery(id).username, "Ann");
  EXPECT_EQ(world.delivery(id).sequence, sequence);
}

TEST_F(PendingRules, WhatIsHeldShowsTheRiskThatCameBefore) {
  const auto id = unnamed();
  hold_all();
  world.accept(risk());
  world.accept(named("Ann", std::chrono::hours{1}));
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk, ReviewReason::held}));
}

TEST_F(PendingRules, ANewLineOfACompletedOrderIsReviewedWhileTheRiskIsNotApproved) {
  const auto id = world.deliver(paid(0, Payment::deliver));
  ASSERT_EQ(world.status(id), "completed");
  auto more = paid(1, Payment::deliver, {"sku-1", "sku-2"});
  more.high_risk = true;
  world.accept(more);
  world.settle();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_TRUE(reviewed_for(id, {ReviewReason::high_risk}));
  EXPECT_FALSE(has("u-ann", "file-2"));
  ASSERT_TRUE(approve(id));
  world.settle();
  EXPECT_TRUE(has("u-ann", "file-2"));
}

// ---------------------------------------------------------------- more than an order may hold

TEST_F(PendingRules, ARetryThatWouldOweMoreFilesThanAnOrderMayHoldIsRefused) {
  const auto id = failed();
  std::vector<std::string> files;
  for (int i = 0; i < 501; ++i) files.push_back("more-" + std::to_string(i));
  map_all("sku-1", files);
  for (const auto& name : {std::optional<std::string>{}, std::optional<std::string>{"Bob"}}) {
    const auto refused = retry(id, name);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "INVALID_TRANSITION");
  }
  EXPECT_EQ(world.status(id), "failed preset_not_found");
  EXPECT_EQ(world.delivery(id).username, "Ann") << "what is refused changes nothing";
}

TEST_F(PendingRules, ARetryOfAnOrderThatBecameTooLargeBringsItToReviewWithWhatItOwed) {
  const auto id = failed();
  auto larger = paid(1, Payment::deliver, {"sku-2"});
  larger.lines[0].line_id = "L9";
  larger.too_large = true;
  world.accept(larger);
  ASSERT_TRUE(retry(id));
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(world.items(id).size(), 1u);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::owed) << "lines that were not read say nothing";
  ASSERT_TRUE(approve(id));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

}  // namespace
}  // namespace presetbridge::services
