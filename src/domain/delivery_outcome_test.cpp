#include "domain/delivery_outcome.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace presetbridge::domain {
namespace {

using enum DeliveryStatus;
using P = PendingActionKind;
constexpr auto kNoCode = ResolutionCode::none;

rc::Gen<std::vector<ItemStatus>> some_items() {
  return rc::gen::container<std::vector<ItemStatus>>(
      rc::gen::map(rc::gen::inRange(0, static_cast<int>(kItemStatusNames.size())),
                   [](int i) { return static_cast<ItemStatus>(i); }));
}

PendingAction asked(P kind) {
  return {.kind = kind, .reason = {}, .actor = {}};
}

TEST(DeliveryOutcome, CountsEachItemOnce) {
  using I = ItemStatus;
  const std::vector<I> items = {I::owed,    I::sharing,  I::shared,  I::already_shared, I::delivered_by_hand,
                                I::dropped, I::revoking, I::revoked, I::revoke_failed};
  EXPECT_EQ(tally(items), (ItemTally{.owed = 1, .sharing = 1, .shared = 6, .dropped = 1}));
}

TEST(DeliveryOutcome, CompletesWhenNothingIsOwedAndSomethingReachedTheCustomer) {
  EXPECT_EQ(conclude_job({.shared = 2}, Finding::worked, kNoCode, asked(P::none)).cause,
            Cause::nothing_left_owed);
  EXPECT_EQ(conclude_job({.shared = 1, .dropped = 1}, Finding::transient, kNoCode, asked(P::none)).cause,
            Cause::nothing_left_owed);
  EXPECT_EQ(conclude_job({.dropped = 2}, Finding::worked, kNoCode, asked(P::none)).cause,
            Cause::nothing_to_deliver);
}

TEST(DeliveryOutcome, AnUnknownShareKeepsTheDeliveryOpen) {
  EXPECT_EQ(conclude_job({.sharing = 1, .shared = 3}, Finding::worked, kNoCode, asked(P::none)).cause,
            Cause::transient_failure);
}

TEST(DeliveryOutcome, AFailedFileFailsTheDeliveryThoughOthersWereShared) {
  const Verdict verdict = conclude_job({.owed = 1, .shared = 1}, Finding::permanent,
                                       ResolutionCode::preset_not_found, asked(P::none));
  EXPECT_EQ(verdict.cause, Cause::permanent_failure);
  EXPECT_EQ(verdict.code, ResolutionCode::preset_not_found);
}

TEST(DeliveryOutcome, AStopKeepsWhatWasSharedAndDropsTheRest) {
  EXPECT_EQ(conclude_job({.owed = 2}, Finding::worked, kNoCode, asked(P::stop)),
            Verdict{.cause = Cause::stopped_by_order});
  EXPECT_EQ(conclude_job({.owed = 1, .shared = 1}, Finding::worked, kNoCode, asked(P::stop)),
            (Verdict{.cause = Cause::nothing_left_owed, .drop_owed = true}));
  EXPECT_EQ(conclude_job({.owed = 1, .sharing = 1, .shared = 1}, Finding::worked, kNoCode, asked(P::stop)),
            (Verdict{.cause = Cause::refreshed, .drop_owed = true, .keep_pending = true}));
  EXPECT_EQ(conclude_stop(waiting_for_friendship, {.owed = 1}), Verdict{.cause = Cause::stopped_by_order});
  EXPECT_EQ(conclude_stop(failed, {.owed = 1, .shared = 1}),
            (Verdict{.cause = Cause::nothing_left_owed, .drop_owed = true}));
  EXPECT_EQ(conclude_stop(queued, {.sharing = 1, .shared = 1}),
            (Verdict{.drop_owed = true, .keep_pending = true}));
  EXPECT_EQ(conclude_stop(completed, {.shared = 1}), Verdict{});
  EXPECT_EQ(conclude_stop(in_review, {.owed = 1}), Verdict{.cause = Cause::stopped_by_order});
  EXPECT_EQ(conclude_stop(in_review, {.owed = 1, .shared = 1}), Verdict{.drop_owed = true});
  EXPECT_EQ(conclude_stop(invalidated, {.owed = 1}), Verdict{});
}

TEST(DeliveryOutcome, AStopAfterAReopeningLeavesTheReviewWhereSomethingWasShared) {
  const auto stopped = combine(asked(P::reopen), asked(P::stop));
  EXPECT_EQ(conclude_job({.owed = 1, .shared = 1}, Finding::worked, kNoCode, stopped),
            (Verdict{.cause = Cause::reopened, .drop_owed = true}));
  EXPECT_EQ(conclude_job({.owed = 1}, Finding::worked, kNoCode, stopped),
            Verdict{.cause = Cause::stopped_by_order});
}

TEST(DeliveryOutcome, AnAbsentShareIsOwedAgainUnlessTheOrderStopped) {
  EXPECT_EQ(after_absent_share(P::none), ItemStatus::owed);
  EXPECT_EQ(after_absent_share(P::retry), ItemStatus::owed);
  EXPECT_EQ(after_absent_share(P::stop), ItemStatus::dropped);
  EXPECT_EQ(after_absent_share(P::erase), ItemStatus::dropped);
}

TEST(DeliveryOutcome, TheMerchantsWordHoldsWhateverTheJobDid) {
  EXPECT_EQ(conclude_job({.shared = 1}, Finding::worked, kNoCode, asked(P::invalidate)).cause,
            Cause::invalidated_by_merchant);
  EXPECT_EQ(conclude_job({.shared = 1}, Finding::worked, kNoCode, asked(P::reopen)).cause, Cause::reopened);
  EXPECT_EQ(
      conclude_job({.owed = 1}, Finding::permanent, ResolutionCode::cloud_rejected, asked(P::retry)).cause,
      Cause::retried);
}

TEST(DeliveryOutcome, WhatOwesNothingAnyMoreIsNeitherTriedAgainNorReviewed) {
  for (const auto asks : {P::none, P::retry, P::cloud_account_changed}) {
    EXPECT_EQ(conclude_job({.dropped = 1}, Finding::worked, kNoCode, asked(asks)).cause,
              Cause::nothing_to_deliver);
    EXPECT_EQ(conclude_job({.shared = 1}, Finding::worked, kNoCode, asked(asks)).cause,
              Cause::nothing_left_owed);
  }
  const auto reviewed = [](ReviewReason reason, ItemTally items) {
    return conclude_job(items, Finding::worked, kNoCode, pending_review(reason)).cause;
  };
  EXPECT_EQ(reviewed(ReviewReason::held, {.dropped = 1}), Cause::nothing_to_deliver);
  EXPECT_EQ(reviewed(ReviewReason::held, {.owed = 1, .dropped = 1}), Cause::held);
  EXPECT_EQ(reviewed(ReviewReason::too_large, {.dropped = 1}), Cause::became_too_large);
}

TEST(DeliveryOutcome, OfTheReasonsOfAReviewTheGravestIsItsCause) {
  ReviewReasons reasons(ReviewReason::held);
  EXPECT_EQ(conclude_job({.owed = 1}, Finding::worked, kNoCode, pending_review(reasons)).cause, Cause::held);
  reasons.add(ReviewReason::too_large);
  EXPECT_EQ(conclude_job({.owed = 1}, Finding::worked, kNoCode, pending_review(reasons)).cause,
            Cause::became_too_large);
  reasons.add(ReviewReason::high_risk);
  EXPECT_EQ(conclude_job({.owed = 1}, Finding::worked, kNoCode, pending_review(reasons)).cause,
            Cause::high_risk);
  EXPECT_EQ(conclude_job({.shared = 1}, Finding::worked, kNoCode, pending_review(reasons)).cause,
            Cause::high_risk)
      << "what the order owes beyond that is not known";
  EXPECT_EQ(
      conclude_job({.shared = 1}, Finding::worked, kNoCode, pending_review(ReviewReason::high_risk)).cause,
      Cause::nothing_left_owed)
      << "only unshared work is reviewed";
}

TEST(DeliveryOutcome, ChangedItemsMoveADeliveryThatNoJobHas) {
  EXPECT_EQ(conclude_items(failed, {.shared = 1, .dropped = 1}).cause, Cause::nothing_left_owed);
  EXPECT_EQ(conclude_items(queued, {.dropped = 1}).cause, Cause::nothing_to_deliver);
  EXPECT_EQ(conclude_items(in_review, {.dropped = 1}).cause, Cause::nothing_to_deliver);
  EXPECT_EQ(conclude_items(in_review, {.shared = 1}).cause, std::nullopt) << "a merchant reviews it";
  EXPECT_EQ(conclude_items(completed, {.owed = 1, .shared = 1}).cause, Cause::new_items_owed);
  EXPECT_EQ(conclude_items(in_review, {.owed = 1, .shared = 1}).cause, std::nullopt);
  EXPECT_EQ(conclude_items(in_review, {}).cause, std::nullopt) << "an order too large has no items";
  EXPECT_EQ(conclude_items(invalidated, {.owed = 1}).cause, std::nullopt);
}

TEST(DeliveryOutcome, EveryVerdictIsATransitionThatTheMachineTakes) {
  EXPECT_TRUE(rc::check([] {
    const ItemTally items = tally(*some_items());
    const auto finding =
        static_cast<Finding>(*rc::gen::inRange(0, static_cast<int>(Finding::lease_lost) + 1));
    const PendingAction pending{
        .kind = static_cast<P>(*rc::gen::inRange(0, static_cast<int>(P::invalidate) + 1)),
        .reason = {},
        .actor = {},
        .reviews =
            static_cast<ReviewReason>(*rc::gen::inRange(0, static_cast<int>(kReviewReasonNames.size())))};
    const Verdict verdict = conclude_job(items, finding, ResolutionCode::cloud_rejected, pending);
    RC_ASSERT(verdict.cause.has_value());
    const auto t = step(processing, *verdict.cause);
    RC_ASSERT(t.has_value());
    RC_ASSERT(t->sets_resolution() == (verdict.code != kNoCode));
    const bool something_open = items.sharing > 0 || (items.owed > 0 && !verdict.drop_owed);
    if (t->to == completed) RC_ASSERT(!something_open && items.shared > 0);

    const auto status = static_cast<DeliveryStatus>(*rc::gen::inRange(0, 7));
    for (const Verdict& idle : {conclude_items(status, items), conclude_stop(status, items)}) {
      if (!idle.cause) continue;
      const auto moved = step(status, *idle.cause);
      RC_ASSERT(moved.has_value());
      if (moved->to == completed)
        RC_ASSERT(items.sharing == 0 && items.shared > 0 && (items.owed == 0 || idle.drop_owed));
      if (moved->to == invalidated) RC_ASSERT(items.shared == 0);
    }
  }));
}

}  // namespace
}  // namespace presetbridge::domain
