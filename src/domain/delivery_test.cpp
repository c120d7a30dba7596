#include "domain/delivery.h"

#include <gtest/gtest.h>

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
  for (const Actor& actor :
       {Actor::system(), Actor::order(), Actor::user(UserId{7}), Actor::api_key(ApiKeyId{1LL << 60})}) {
    EXPECT_EQ(parse_actor(to_string(actor)), actor) << to_string(actor);
  }
  EXPECT_EQ(parse_actor(""), std::nullopt);
  EXPECT_EQ(parse_actor("usr_"), std::nullopt);
  EXPECT_EQ(parse_actor("del_0000000000001"), std::nullopt);
}

TEST(PendingActions, TheStrongerStaysAndTheNewestUsernameIsKept) {
  const PendingAction retry{PendingActionKind::retry, "", "ann", Actor::user(UserId{1})};
  const PendingAction stop{PendingActionKind::stop, "order_refunded", "", Actor::order()};
  for (const PendingAction& both : {combine(retry, stop), combine(stop, retry)}) {
    EXPECT_EQ(both.kind, PendingActionKind::stop);
    EXPECT_EQ(both.reason, "order_refunded");
    EXPECT_EQ(both.actor, Actor::order());
    EXPECT_EQ(both.username, "ann");
  }
  const PendingAction bob{PendingActionKind::retry, "", "bob", Actor::user(UserId{2})};
  EXPECT_EQ(combine(retry, bob), bob);
  EXPECT_EQ(combine({}, retry), retry);
  EXPECT_EQ(combine(retry, {}), retry);
}

}  // namespace
}  // namespace presetbridge::domain
