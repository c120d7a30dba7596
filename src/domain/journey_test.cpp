#include "domain/journey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/delivery_machine.h"

namespace presetbridge::domain {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using enum StepState;

TEST(Journey, ADeliveryGoesOnFromTheFirstStepThatIsNotDone) {
  EXPECT_THAT(journey({}), ElementsAre(done, current, ahead, ahead, ahead));
  EXPECT_THAT(journey({.status = DeliveryStatus::processing, .found = true}),
              ElementsAre(done, done, current, ahead, ahead));
  EXPECT_THAT(journey({.status = DeliveryStatus::waiting_for_friendship, .found = true, .requested = true}),
              ElementsAre(done, done, done, current, ahead));
  EXPECT_THAT(journey({.status = DeliveryStatus::processing, .found = true, .friends = true}),
              ElementsAre(done, done, done, done, current));
  EXPECT_THAT(
      journey({.status = DeliveryStatus::completed, .found = true, .requested = true, .friends = true}),
      ElementsAre(done, done, done, done, done));
  EXPECT_THAT(journey({.status = DeliveryStatus::completed}),
              ElementsAre(done, skipped, skipped, skipped, done))
      << "by hand";
}

TEST(Journey, AFailureStopsAtTheStepThatItIsAbout) {
  const auto failed_for = [](ResolutionCode code) {
    return journey({.status = DeliveryStatus::failed, .code = code, .found = true, .requested = true});
  };
  EXPECT_THAT(failed_for(ResolutionCode::username_not_found),
              ElementsAre(done, stopped, ahead, ahead, ahead));
  EXPECT_THAT(failed_for(ResolutionCode::blocked_by_customer),
              ElementsAre(done, done, stopped, ahead, ahead));
  EXPECT_THAT(failed_for(ResolutionCode::friendship_timeout), ElementsAre(done, done, done, stopped, ahead));
  EXPECT_THAT(failed_for(ResolutionCode::preset_not_found), ElementsAre(done, done, done, done, stopped));
  EXPECT_THAT(failed_for(ResolutionCode::cloud_unavailable), ElementsAre(done, done, done, stopped, ahead));
}

// The machine accepts exactly the actions that are shown as possible.
TEST(Journey, WhatIsAllowedIsWhatTheMachineTakes) {
  for (std::size_t i = 0; i < kDeliveryStatusNames.size(); ++i) {
    const auto status = static_cast<DeliveryStatus>(i);
    const auto allowed = allowed_actions(status, false, false);
    const auto has = [&](MerchantAction action) {
      return std::ranges::find(allowed, action) != allowed.end();
    };
    EXPECT_EQ(has(MerchantAction::retry), step(status, Cause::retried).has_value()) << to_string(status);
    EXPECT_EQ(has(MerchantAction::approve), step(status, Cause::approved).has_value()) << to_string(status);
    EXPECT_EQ(has(MerchantAction::complete), step(status, Cause::completed_by_hand).has_value());
    EXPECT_EQ(has(MerchantAction::reopen), step(status, Cause::reopened).has_value());
    EXPECT_EQ(has(MerchantAction::invalidate), step(status, Cause::invalidated_by_merchant).has_value());
    EXPECT_FALSE(has(MerchantAction::revoke));
  }
  EXPECT_THAT(allowed_actions(DeliveryStatus::in_review, true, false),
              Not(Contains(MerchantAction::approve)));
  EXPECT_THAT(allowed_actions(DeliveryStatus::completed, false, true),
              ElementsAre(MerchantAction::reopen, MerchantAction::invalidate, MerchantAction::revoke));
}

TEST(Journey, EachFailureHasARemedy) {
  for (std::size_t i = 1; i < kResolutionCodeNames.size(); ++i)
    EXPECT_NE(remedy_of(static_cast<ResolutionCode>(i)), "") << kResolutionCodeNames[i];
}

}  // namespace
}  // namespace presetbridge::domain
