#include "domain/buyer.h"

#include <gtest/gtest.h>

namespace presetbridge::domain {
namespace {

using enum BuyerState;

TEST(BuyerState, SaysTheBuyersPartAndNeverTheMerchants) {
  const auto failed = [](ResolutionCode code) { return buyer_state(DeliveryStatus::failed, code); };
  EXPECT_EQ(failed(ResolutionCode::username_missing), username_missing);
  EXPECT_EQ(failed(ResolutionCode::username_not_found), username_not_found);
  EXPECT_EQ(failed(ResolutionCode::friend_request_declined), declined);
  EXPECT_EQ(failed(ResolutionCode::friendship_timeout), no_answer);
  EXPECT_EQ(failed(ResolutionCode::blocked_by_customer), blocked);
  for (const auto code :
       {ResolutionCode::credentials_missing, ResolutionCode::credentials_invalid,
        ResolutionCode::preset_not_found, ResolutionCode::preset_not_shareable,
        ResolutionCode::insufficient_credits, ResolutionCode::cloud_unavailable,
        ResolutionCode::cloud_rejected, ResolutionCode::order_too_large, ResolutionCode::internal_error})
    EXPECT_EQ(failed(code), delayed) << to_string(code);
  const auto state = [](DeliveryStatus status) { return buyer_state(status, ResolutionCode::none); };
  EXPECT_EQ(state(DeliveryStatus::queued), on_its_way);
  EXPECT_EQ(state(DeliveryStatus::processing), on_its_way);
  EXPECT_EQ(state(DeliveryStatus::waiting_for_friendship), accept_request);
  EXPECT_EQ(state(DeliveryStatus::completed), delivered);
  EXPECT_EQ(state(DeliveryStatus::invalidated), closed);
  EXPECT_EQ(buyer_state(DeliveryStatus::in_review, ResolutionCode::order_too_large), delayed);
}

TEST(BuyerActs, AreCountedAndSpacedOut) {
  for (const auto state :
       {on_its_way, username_missing, username_not_found, accept_request, declined, no_answer, blocked}) {
    EXPECT_TRUE(may_correct(state, false, {.corrections = 4})) << to_string(state);
    EXPECT_FALSE(may_correct(state, false, {.corrections = 5})) << to_string(state);
    EXPECT_FALSE(may_correct(state, true, {})) << to_string(state);
  }
  for (const auto state : {delivered, delayed, closed})
    EXPECT_FALSE(may_correct(state, false, {})) << to_string(state);
  for (const auto state : {declined, no_answer, blocked}) {
    EXPECT_TRUE(may_retry(state, {.retries = 2})) << to_string(state);
    EXPECT_FALSE(may_retry(state, {.retries = 3})) << to_string(state);
  }
  for (const auto state :
       {on_its_way, username_missing, username_not_found, accept_request, delivered, delayed, closed})
    EXPECT_FALSE(may_retry(state, {})) << to_string(state);

  const auto now = from_unix_ms(1'000'000);
  EXPECT_EQ(buyer_wait({}, now), Millis{0});
  EXPECT_EQ(buyer_wait({.acted_at = now - Millis{59'999}}, now), Millis{1});
  EXPECT_EQ(buyer_wait({.acted_at = now - Millis{60'000}}, now), Millis{0});
  EXPECT_EQ(buyer_wait({.acted_at = now + std::chrono::hours{5}}, now), kBuyerPause)
      << "the clock was set back";
}

}  // namespace
}  // namespace presetbridge::domain
