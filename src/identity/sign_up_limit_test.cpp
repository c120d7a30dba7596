#include "identity/sign_up_limit.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace presetbridge::identity {
namespace {

using std::chrono::minutes;

const Timestamp kStart = from_unix_ms(1'700'000'000'000);
constexpr Millis kNow{0};

TEST(SignUpLimit, WhoUsesUpTheirOwnAttemptsLeavesThoseOfOthers) {
  SignUpLimit limit({.per_address = 2, .together = 4});
  EXPECT_EQ(limit.admit("192.0.2.1", kStart), kNow);
  EXPECT_EQ(limit.admit("192.0.2.1", kStart + minutes{10}), kNow);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(limit.admit("192.0.2.1", kStart + minutes{15}), Millis{minutes{45}});
  EXPECT_EQ(limit.admit("192.0.2.2", kStart + minutes{20}), kNow);
  EXPECT_EQ(limit.admit("192.0.2.1", kStart + minutes{60}), kNow) << "the first try is an hour ago";
}

TEST(SignUpLimit, ManyPlacesTogetherMeetTheLimitOfAll) {
  SignUpLimit limit({.per_address = 2, .together = 3});
  for (const char* place : {"a", "b", "c"}) EXPECT_EQ(limit.admit(place, kStart), kNow);
  EXPECT_EQ(limit.admit("d", kStart + minutes{10}), Millis{minutes{50}});
  EXPECT_EQ(limit.admit("a", kStart + minutes{10}), Millis{minutes{50}});
}

TEST(SignUpLimit, APlaceOfWhichNothingIsKnownMeetsOnlyTheLimitOfAll) {
  SignUpLimit limit({.per_address = 1, .together = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.admit("", kStart), kNow);
  EXPECT_GT(limit.admit("", kStart), kNow);
  EXPECT_EQ(limit.places(), 0u);
}

TEST(SignUpLimit, ATryThatIsGivenBackMayBeMadeAgain) {
  SignUpLimit limit({.per_address = 1, .together = 1});
  EXPECT_EQ(limit.admit("a", kStart), kNow);
  limit.give_back("a", kStart);
  EXPECT_EQ(limit.admit("a", kStart + minutes{1}), kNow);
  EXPECT_GT(limit.admit("a", kStart + minutes{2}), kNow);
  limit.give_back("b", kStart + minutes{2});  // never counted: nothing to give back
  EXPECT_GT(limit.admit("b", kStart + minutes{3}), kNow);
}

TEST(SignUpLimit, HoldsNoMorePlacesThanEverybodyHasAttempts) {
  SignUpLimit limit({.per_address = 2, .together = 5});
  for (int i = 0; i < 1'000; ++i) {
    limit.admit("place " + std::to_string(i), kStart + minutes{i});
    ASSERT_LE(limit.places(), 5u) << i;
  }
}

class SignUpGateTest : public ::testing::Test {
 protected:
  Millis admit(std::string network, AccountId invited_to = {}) {
    return gate_.admit(from(std::move(network)), clock_.now(), invited_to);
  }
  static net::Caller from(std::string network) {
    const bool for_others = network.empty();
    return {std::move(network), for_others};
  }

  presetbridge::testing::ManualClock clock_;
  SignUpGate gate_{SignUpLimits{.per_address = 2, .together = 3}, clock_};
  const AccountId ours_{1};
};

TEST_F(SignUpGateTest, StrangersWhoUseUpAllAttemptsLeaveThoseOfPeopleWithAnInvitation) {
  for (const char* network : {"a", "b", "c"}) ASSERT_EQ(admit(network), kNow);
  ASSERT_GT(admit("d"), kNow);
  EXPECT_EQ(admit("d", ours_), kNow);
  EXPECT_EQ(admit("a", ours_), kNow);
  EXPECT_EQ(admit("", ours_), kNow);
  clock_.advance(minutes{60});
  for (const char* network : {"d", "d", "a"})
    EXPECT_EQ(admit(network), kNow) << "nothing of theirs was used up";
}

TEST_F(SignUpGateTest, OnlyAFaultOfOursAMeetingOrAMissingSeatCostsNoAttempt) {
  const auto ended_with = [&](const char* code) {
    gate_.failed(from("a"), clock_.now(), ours_, {code, "", {}});
  };
  ASSERT_EQ(admit("a", ours_), kNow);
  for (const char* code : {"OVERLOADED", "STORAGE_UNAVAILABLE", "INTERNAL_ERROR", "OUT_OF_MEMORY",
                           "RATE_LIMIT_EXCEEDED", "CONFLICT"}) {
    ASSERT_EQ(admit("a", ours_), kNow) << code;
    ended_with(code);
  }
  ASSERT_EQ(admit("a", ours_), kNow);
  for (const char* code :
       {"EMAIL_TAKEN", "LIMIT_REACHED", "INVITATION_INVALID", "ACCOUNT_DISABLED", "ALREADY_MEMBER"}) {
    ended_with(code);
    EXPECT_GT(admit("a", ours_), kNow) << code;
  }
}

TEST_F(SignUpGateTest, PeopleWithAnInvitationCountByNetworkAndByTheAccountThatInvites) {
  EXPECT_EQ(admit("a", ours_), kNow);
  EXPECT_EQ(admit("a", ours_), kNow);
  EXPECT_EQ(admit("a", ours_), Millis{minutes{30}});
  gate_.failed(from("a"), clock_.now(), ours_, {"OVERLOADED", "", {}});
  EXPECT_EQ(admit("a", ours_), kNow);
  for (int n = 2; n < SignUpGate::invited_of_account; ++n)
    ASSERT_EQ(admit(n % 2 == 0 ? "" : std::to_string(n), ours_), kNow) << n;
  EXPECT_EQ(admit("b", ours_), Millis{36'000});
  EXPECT_EQ(admit("", ours_), Millis{36'000});
  EXPECT_EQ(admit("b", AccountId{2}), kNow) << "another account's";
}

}  // namespace
}  // namespace presetbridge::identity
