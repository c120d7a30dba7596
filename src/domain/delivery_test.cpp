#include "domain/delivery.h"

#include <gtest/gtest.h>

#include <utility>

namespace presetbridge::domain {
namespace {

template <class E, std::size_t N, class Parse>
void expect_round_trips(const std::array<std::string_view, N>& names, Parse parse) {
  for (std::size_t i = 0; i < N; ++i) {
    EXPECT_EQ(parse(names[i]), static_cast<E>(i)) << names[i];
    EXPECT_EQ(to_string(static_cast<E>(i)), names[i]);
  }
  EXPECT_EQ(parse("no such name"), std::nullopt);
  EXPECT_EQ(parse("Queued"), std::nullopt);
}

TEST(DeliveryWords, EveryNameIsReadBackAsWhatItNames) {
  expect_round_trips<DeliveryStatus>(kDeliveryStatusNames, parse_delivery_status);
  expect_round_trips<ItemStatus>(kItemStatusNames, parse_item_status);
  expect_round_trips<ResolutionCode>(kResolutionCodeNames, parse_resolution_code);
  expect_round_trips<EventType>(kEventTypeNames, parse_event_type);
  expect_round_trips<InvalidatedBy>(kInvalidatedByNames, parse_invalidated_by);
  expect_round_trips<PendingActionKind>(kPendingActionKindNames, parse_pending_action_kind);
}

TEST(DeliveryWords, TheLastNameOfEachKindBelongsToItsLastValue) {
  EXPECT_EQ(to_string(DeliveryStatus::invalidated), "invalidated");
  EXPECT_EQ(to_string(ItemStatus::revoke_failed), "revoke_failed");
  EXPECT_EQ(to_string(ResolutionCode::internal_error), "internal_error");
  EXPECT_EQ(to_string(EventType::webhook_test), "webhook.test");
  EXPECT_EQ(to_string(PendingActionKind::invalidate), "invalidate");
}

TEST(DeliveryWords, ActorsAreReadBack) {
  for (const Actor& actor : {Actor::system(), Actor::order(), Actor::user(UserId{7}),
                             Actor::api_key(ApiKeyId{1LL << 60}), Actor::buyer()}) {
    EXPECT_EQ(parse_actor(to_string(actor)), actor) << to_string(actor);
  }
  EXPECT_EQ(parse_actor(""), std::nullopt);
  EXPECT_EQ(parse_actor("usr_"), std::nullopt);
  EXPECT_EQ(parse_actor("del_0000000000001"), std::nullopt);
}

PendingAction pending(PendingActionKind kind, std::string reason, Actor actor, std::string name = {}) {
  PendingAction action{.kind = kind, .reason = std::move(reason), .actor = actor};
  if (!name.empty()) action.name = {std::move(name), actor, Timestamp{Millis{actor.id}}};
  return action;
}

TEST(PendingActions, TheStrongerStaysAndTheNewestNameIsKeptAsItWasGiven) {
  const auto retry = pending(PendingActionKind::retry, "", Actor::user(UserId{1}), "ann");
  const auto stop = pending(PendingActionKind::stop, "order_refunded", Actor::order());
  for (const PendingAction& both : {combine(retry, stop), combine(stop, retry)}) {
    EXPECT_EQ(both.kind, PendingActionKind::stop);
    EXPECT_EQ(both.reason, "order_refunded");
    EXPECT_EQ(both.actor, Actor::order());
    EXPECT_EQ(both.name, retry.name);
  }
  const auto bob = pending(PendingActionKind::retry, "", Actor::user(UserId{2}), "bob");
  EXPECT_EQ(combine(retry, bob), bob);
  EXPECT_EQ(combine({}, retry), retry);
  EXPECT_EQ(combine(retry, {}), retry);
}

TEST(PendingActions, AllReasonsOfAReviewAreKeptWhateverElseIsAsked) {
  const auto reopen = pending(PendingActionKind::reopen, "", Actor::user(UserId{1}));
  auto both = combine(pending_review(ReviewReason::held), pending_review(ReviewReason::high_risk));
  EXPECT_EQ(to_string(both.reviews), "high_risk,held");
  both = combine(both, reopen);
  EXPECT_EQ(both.kind, PendingActionKind::reopen);
  EXPECT_EQ(to_string(both.reviews), "high_risk,held");
}

TEST(PendingActions, WhereAStopIsWithdrawnWhatElseWasAskedStillWaits) {
  const auto stop = pending(PendingActionKind::stop, "order_cancelled", Actor::order());
  EXPECT_EQ(without_stop(stop, {}), PendingAction{});
  const auto retry = pending(PendingActionKind::retry, "", Actor::user(UserId{1}), "ann");
  EXPECT_EQ(without_stop(combine(retry, stop), {}), retry);
  const auto refresh = pending(PendingActionKind::refresh, "", Actor::order(), "bob");
  EXPECT_EQ(without_stop(combine(refresh, stop), {}), refresh);
  ReviewReasons reasons(ReviewReason::held);
  reasons.add(ReviewReason::payment_withdrawn);
  const auto left =
      without_stop(combine(combine(retry, pending_review(reasons)), stop), ReviewReason::payment_withdrawn);
  EXPECT_EQ(left.kind, PendingActionKind::review);
  EXPECT_EQ(to_string(left.reviews), "held");
  EXPECT_EQ(left.name, retry.name);
  EXPECT_EQ(without_stop(pending_review(ReviewReason::high_risk), ReviewReason::high_risk), PendingAction{});
  for (const auto kind : {PendingActionKind::retry, PendingActionKind::cloud_account_changed,
                          PendingActionKind::reopen, PendingActionKind::erase, PendingActionKind::invalidate})
    EXPECT_EQ(without_stop(pending(kind, "x", Actor::system()), {}).kind, kind);
}

TEST(PendingActions, AStopRemembersTheReopeningThatCameBeforeItAndNoneThatCameAfter) {
  const auto reopen = pending(PendingActionKind::reopen, "", Actor::user(UserId{1}));
  const auto stop = pending(PendingActionKind::stop, "order_cancelled", Actor::order());
  const auto both = combine(combine(reopen, stop), stop);
  EXPECT_EQ(both.kind, PendingActionKind::stop);
  EXPECT_EQ(both.reason, "order_cancelled");
  EXPECT_TRUE(both.stops_a_reopening());
  const auto left = without_stop(both, {});
  EXPECT_EQ(left.kind, PendingActionKind::reopen);
  EXPECT_EQ(left.actor, reopen.actor);
  EXPECT_EQ(combine(both, reopen).kind, PendingActionKind::reopen);
  EXPECT_FALSE(stop.stops_a_reopening());
  EXPECT_EQ(combine(stop, reopen), reopen);
}

}  // namespace
}  // namespace presetbridge::domain
