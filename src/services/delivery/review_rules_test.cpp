// Why a delivery comes to review, and what ends that (spec 3.1).
#include "services/delivery/order_rules_testing.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::OrderEvent;
using domain::ReviewReason;
using testing::expect_books_balance;
using testing::later;
using testing::once;
using Fate = testing::FakeCloud::Fate;

class ReviewRules : public testing::OrderRules {};

TEST_F(ReviewRules, AReopenedDeliveryStaysInReviewWhateverTheStoreReports) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(reason(id), ReviewReason::reopened);
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  world.accept(refund("r1", {{"L2", 1}}));
  settle();
  EXPECT_EQ(world.status(id), "in_review");
  world.accept(paid(2, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  settle();
  EXPECT_EQ(world.status(id), "in_review") << "something was shared";
  EXPECT_TRUE(world.delivery(id).cancelled);
  world.accept(paid(3, domain::Payment::deliver, {"sku-1", "sku-2"}));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(ReviewRules, AReopenedDeliveryThatOwesNothingStaysInReviewToo) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  world.accept(refund("r2", {}));
  ASSERT_EQ(world.status(id), "in_review");
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  EXPECT_EQ(world.status(id), "in_review");
  world.accept(refund("r3", {{"L2", 1}}));
  EXPECT_EQ(world.status(id), "invalidated") << "the refund took what was to be approved";
}

TEST_F(ReviewRules, AReopenedDeliveryOfAStoppedOrderStaysInReviewUntilItIsStoppedAnew) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(paid(1, domain::Payment::refunded));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  auto edited = paid(2, domain::Payment::refunded);
  edited.lines[0].quantity = 2;
  world.accept(edited);
  EXPECT_EQ(world.status(id), "in_review");
  world.accept(paid(3, domain::Payment::cancelled));
  EXPECT_EQ(world.status(id), "invalidated");
}

TEST_F(ReviewRules, WhatWasApprovedAfterAStopStaysWhateverElseTheStoreReports) {
  auto_revoke();
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(paid(1, domain::Payment::refunded));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  auto event = paid(2, domain::Payment::refunded);
  event.email = "another@example.com";
  world.accept(event);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  world.cloud.accept("u-ann");
  settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  event.updated_at = *event.updated_at + std::chrono::minutes{5};
  event.email = "third@example.com";
  world.accept(event);
  settle(std::chrono::hours{1});
  EXPECT_TRUE(has("u-ann", "file-1"));
  world.accept(paid(9, domain::Payment::cancelled));
  settle(std::chrono::hours{1});
  EXPECT_FALSE(has("u-ann", "file-1")) << "stopped anew";
}

TEST_F(ReviewRules, WhatIsApprovedOfAStoppedOrderIsTheProductThatItHasNow) {
  world.cloud.auto_accept = false;
  const auto id = deliver(named("Ann", 0));
  world.accept(paid(1, domain::Payment::cancelled, {"sku-2"}));
  settle();
  ASSERT_EQ(world.status(id), "invalidated");
  world.cloud.accept("u-ann");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(ReviewRules, AReopenedDeliveryThatOwesNothingStaysInReviewWhenAFormerCustomersShareIsFound) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  world.accept(paid(1, domain::Payment::awaiting_payment));
  world.accept(refund("r1", {{"L1", 1}}));
  ASSERT_TRUE(retry(id, "Bob"));
  ASSERT_TRUE(approve(id));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  settle(std::chrono::hours{1});
  const auto items = world.items(id);
  const auto former = std::ranges::find(items, true, &storage::ItemRow::former);
  ASSERT_NE(former, items.end());
  EXPECT_EQ(former->status, ItemStatus::shared);
  EXPECT_EQ(world.status(id), "in_review");
  expect_books_balance(world);
}

TEST_F(ReviewRules, ANameThatComesToWhatWasApprovedAfterAStopCounts) {
  world.cloud.auto_accept = false;
  const auto stopped = [&](const std::string& name, int minute) {
    auto event = named(name, minute);
    event.payment = domain::Payment::cancelled;
    return event;
  };
  const auto id = world.deliver(named("", 0));
  world.accept(stopped("", 1));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  ASSERT_EQ(world.status(id), "failed username_missing");
  world.accept(stopped("Ann", 2));
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship") << "the username arrived";

  world.accept(stopped("Bob", 3));
  world.cloud.accept("u-ann");
  settle(std::chrono::hours{1});
  EXPECT_FALSE(has("u-ann", "file-1"));
  world.cloud.accept("u-bob");
  settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
}

TEST_F(ReviewRules, ASettlementDoesNotEndAReview) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(paid(1, domain::Payment::awaiting_payment));
  ASSERT_EQ(world.status(id), "in_review");
  settle(std::chrono::hours{1});
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(reason(id), ReviewReason::payment_withdrawn);
  ASSERT_TRUE(approve(id));
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(ReviewRules, APaymentThatReturnsEndsTheReviewThatItsLossBegan) {
  world.cloud.auto_accept = false;
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.accept(paid(1, domain::Payment::awaiting_payment));
  ASSERT_EQ(world.status(id), "in_review");
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1) << "the request that stands is not repeated";
}

TEST_F(ReviewRules, OfSeveralReasonsTheGravestShowsAndEachEndsByItself) {
  world.hold_queue();
  const auto id = *world.accept(paid(0, domain::Payment::deliver)).delivery;
  world.accept(paid(1, domain::Payment::awaiting_payment));
  OrderEvent risk{.kind = OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  EXPECT_EQ(reason(id), ReviewReason::high_risk);
  world.accept(paid(2, domain::Payment::deliver));
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_FALSE(world.delivery(id).review_reasons.has(ReviewReason::payment_withdrawn));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.delivery(id).review_reasons.none());
  EXPECT_EQ(world.delivery(id).reason, "") << "a reason ends with the state that it explains";
}

TEST_F(ReviewRules, AnOrderThatIsTooLargeCannotBeApprovedWhileThereIsNothingToServe) {
  auto event = later(world, "1", {}, 0);
  event.too_large = true;
  const auto id = deliver(event);
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(reason(id), ReviewReason::too_large);
  const auto refused = approve(id);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "INVALID_TRANSITION");
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  world.accept(later(world, "1", {"sku-1"}, 1));
  EXPECT_EQ(world.status(id), "in_review order_too_large") << "a merchant approves it";
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(ReviewRules, AnOrderThatWasTooLargeAndStoppedIsDeliveredWhenItIsPaidAgainAndCanBeRead) {
  auto event = later(world, "1", {}, 0);
  event.too_large = true;
  const auto id = deliver(event);
  world.accept(paid(1, domain::Payment::cancelled));
  ASSERT_EQ(world.status(id), "invalidated");
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(ReviewRules, TooManyRefundLinesBringUnsharedWorkToReview) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  auto unread = refund("r1", {});
  unread.refunds.clear();
  unread.too_many_refund_lines = true;
  world.accept(unread);
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_TRUE(world.delivery(id).refunded);
  ASSERT_TRUE(approve(id));
  world.accept(later(world, "1", {"sku-1"}, 1));
  EXPECT_EQ(world.status(id), "waiting_for_friendship") << "what was approved is not asked again";
}

TEST_F(ReviewRules, AStoreThatHoldsAllHoldsAtEveryQueueing) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  hold_all();
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  settle();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(reason(id), ReviewReason::held);
  EXPECT_FALSE(has("u-ann", "file-2"));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_TRUE(has("u-ann", "file-2"));
}

TEST_F(ReviewRules, AStoreThatHoldsAllHoldsAnOrderThatIsPaidAgain) {
  hold_all();
  world.cloud.auto_accept = false;
  const auto id = *world.accept(paid(0, domain::Payment::deliver)).delivery;
  ASSERT_EQ(world.status(id), "in_review");
  ASSERT_TRUE(approve(id));
  settle();
  world.accept(paid(1, domain::Payment::cancelled));
  ASSERT_EQ(world.status(id), "invalidated");
  world.accept(paid(2, domain::Payment::deliver));
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(reason(id), ReviewReason::held);
}

TEST_F(ReviewRules, AStoreThatHoldsAllHoldsWhatANameWouldResume) {
  hold_all();
  auto bare = named("", 0);
  bare.raw_username.clear();
  const auto id = *world.accept(bare).delivery;
  ASSERT_TRUE(approve(id));
  ASSERT_EQ(world.status(id), "failed username_missing");
  world.accept(named("Ann", 1));
  EXPECT_EQ(world.status(id), "in_review");
}

TEST_F(ReviewRules, AStopThatAPaymentLiftsIsForgottenThoughTheOrderIsOfAnApprovedRisk) {
  world.hold_queue();
  const auto id = *world.accept(later(world, "1", {"sku-1", "sku-2"}, 0)).delivery;
  OrderEvent risk{.kind = OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  bool lost = false;
  world.cloud.before = [&](auto& call, auto& subject) {
    return call == "share" && subject == "file-2" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  ASSERT_TRUE(approve(id));
  settle(Millis{5'000});
  ASSERT_EQ(world.status(id), "queued");
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  world.accept(paid(2, domain::Payment::deliver, {"sku-1", "sku-2"}));
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
}

TEST_F(ReviewRules, AStopThatTheStoreLiftsWithoutAPaymentIsForgottenInReview) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto& subject) {
    return call == "share" && subject == "file-2" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  ASSERT_EQ(world.status(id), "queued");
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  ASSERT_EQ(world.delivery(id).pending.kind, domain::PendingActionKind::stop);
  world.accept(paid(2, domain::Payment::awaiting_payment, {"sku-1", "sku-2"}));
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(world.delivery(id).pending.kind, domain::PendingActionKind::none);
  world.accept(paid(3, domain::Payment::deliver, {"sku-1", "sku-2"}));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
}

}  // namespace
}  // namespace presetbridge::services
