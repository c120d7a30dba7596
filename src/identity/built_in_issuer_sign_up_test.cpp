// Sign-ups, changes of an address among them, and their limits (spec 7.2).
#include "identity/built_in_issuer_testing.h"

namespace presetbridge::identity {
namespace {

using testing::BuiltInIssuerTest;
using testing::kPassword;

TEST_F(BuiltInIssuerTest, ASignUpGivesTokensThatVerifyLikeAnyIssuers) {
  const auto tokens = sign_up("  Ann@Example.com ");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->email, "ann@example.com");
  const auto verified = verify(tokens->id_token);
  ASSERT_TRUE(verified);
  EXPECT_EQ(verified->sub, to_string(tokens->user));
  EXPECT_EQ(verified->email, "ann@example.com");
  EXPECT_EQ(verified->expires_at, tokens->id_token_expires_at);
  world_.clock().advance(std::chrono::minutes{59});
  EXPECT_TRUE(verify(tokens->id_token));
  world_.clock().advance(std::chrono::minutes{2});
  EXPECT_FALSE(verify(tokens->id_token)) << "an hour and the leeway";
}

TEST_F(BuiltInIssuerTest, AnAddressSignsUpOnceInAnyCase) {
  ASSERT_TRUE(sign_up("ann@example.com"));
  const auto again = sign_up("ANN@example.com");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "EMAIL_TAKEN");
  const auto other = sign_up("bob@example.com");
  ASSERT_TRUE(other);
  EXPECT_NE(other->account, sign_in("ann@example.com")->account);
}

TEST_F(BuiltInIssuerTest, SignUpJudgesAddressAndPassword) {
  for (const char* email : {"", "ann", "@example.com", "ann@", "a b@example.com", "a@b@c"}) {
    const auto refused = sign_up(email);
    ASSERT_FALSE(refused) << email;
    EXPECT_EQ(refused.error().code, "VALIDATION_FAILED") << email;
    EXPECT_EQ(refused.error().details.at(0).field, "email") << email;
  }
  for (const auto& password : {std::string("ninechars"), std::string("äöüäöüäöü"), std::string(1025, 'x')}) {
    const auto refused = sign_up("ann@example.com", password);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().details.at(0).field, "password");
  }
}

TEST_F(BuiltInIssuerTest, ClosedSignUpMakesNoAccount) {
  auto closed = world_.issuer({.iss = "https://bridge.example", .signup = Signup::closed});
  const auto refused = world_.await(closed->sign_up(world_.scheduler, {}, "ann@example.com", kPassword, ""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "SIGNUP_CLOSED");
}

TEST_F(BuiltInIssuerTest, OnlySoManySignUpInAnHour) {
  limit_signups({.per_address = 3, .together = 3});
  EXPECT_TRUE(sign_up("a@example.com"));
  EXPECT_EQ(sign_up("a@example.com").error().code, "EMAIL_TAKEN");
  world_.clock().advance(std::chrono::minutes{20});
  EXPECT_EQ(sign_up("not an address").error().code, "VALIDATION_FAILED")
      << "costs nothing, so counts for nothing";
  EXPECT_TRUE(sign_up("b@example.com"));
  const auto refused = sign_up("c@example.com");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), (Error{"RATE_LIMIT_EXCEEDED", "Rate limit exceeded", {}}));
  EXPECT_EQ(refused.error().retry_after, Millis{std::chrono::minutes{40}});
  EXPECT_TRUE(sign_in("a@example.com")) << "who has an account is not touched";
  world_.clock().advance(std::chrono::minutes{40});
  EXPECT_TRUE(sign_up("c@example.com"));
}

TEST_F(BuiltInIssuerTest, AStrangerUsesUpOnlyTheirOwnAttempts) {
  limit_signups({.per_address = 2, .together = 5});
  const auto stranger = [&](std::string email) {
    return sign_up(std::move(email), kPassword, "198.51.100.7").error();
  };
  ASSERT_TRUE(sign_up("ann@example.com", kPassword, "192.0.2.1"));
  EXPECT_EQ(stranger("ann@example.com").code, "EMAIL_TAKEN");
  EXPECT_EQ(stranger("ann@example.com").code, "EMAIL_TAKEN");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(stranger("ann@example.com").code, "RATE_LIMIT_EXCEEDED") << "who asks on learns nothing";
    EXPECT_EQ(stranger("ann@example.com").retry_after, Millis{std::chrono::hours{1}});
  }
  EXPECT_TRUE(sign_up("bob@example.com", kPassword, "192.0.2.1"));
  EXPECT_TRUE(sign_up("cid@example.com", kPassword, "192.0.2.2"));
  EXPECT_EQ(sign_up("dan@example.com", kPassword, "192.0.2.3").error().code, "RATE_LIMIT_EXCEEDED")
      << "all together";
}

TEST_F(BuiltInIssuerTest, StrangersWhoUseUpAllSignUpsKeepNoColleagueFromJoining) {
  limit_signups({.per_address = 2, .together = 1});
  const auto ann = sign_up("ann@example.com", kPassword, "192.0.2.1");
  ASSERT_TRUE(ann);
  ASSERT_EQ(sign_up("bob@example.com", kPassword, "192.0.2.2").error().code, "RATE_LIMIT_EXCEEDED");
  const auto invitation = world_.invite(ann->account);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(join("bob@example.com", invitation + "x", "192.0.2.2").error().code, "INVITATION_INVALID")
        << "costs no attempt";
  }
  EXPECT_EQ(join("ann@example.com", invitation, "192.0.2.2").error().code, "EMAIL_TAKEN");
  const auto bob = join("bob@example.com", invitation, "192.0.2.2");
  ASSERT_TRUE(bob) << bob.error().message;
  EXPECT_EQ(bob->account, ann->account);
  const auto refused = join("ann@example.com", world_.invite(ann->account), "192.0.2.2");
  EXPECT_EQ(refused.error().code, "RATE_LIMIT_EXCEEDED") << "the network has used up its own";
  EXPECT_EQ(refused.error().retry_after, Millis{std::chrono::minutes{30}});
  EXPECT_TRUE(join("cid@example.com", world_.invite(ann->account), "192.0.2.3"));
}

TEST_F(BuiltInIssuerTest, AnInvitationToAFullAccountSearchesNoMoreAddressesThanAnother) {
  limit_signups({.per_address = 2, .together = 1});
  const auto ann = sign_up("ann@example.com", kPassword, "192.0.2.1");
  ASSERT_TRUE(ann);
  world_.db->write([&](storage::Tx& tx) {
    for (int n = 1; n < kMostPeople; ++n)
      storage::insert_identity(tx, "https://id.example", std::to_string(n),
                               {ann->account, world_.ids.make<UserId>(), "member"});
  });
  const auto invitation = world_.invite(ann->account);
  EXPECT_EQ(join("ann@example.com", invitation, "192.0.2.2").error().code, "EMAIL_TAKEN");
  EXPECT_EQ(join("bob@example.com", invitation, "192.0.2.2").error().code, "LIMIT_REACHED");
  for (const char* email : {"ann@example.com", "cid@example.com"})
    EXPECT_EQ(join(email, invitation, "192.0.2.2").error().code, "RATE_LIMIT_EXCEEDED")
        << "who asks on learns nothing";
}

TEST_F(BuiltInIssuerTest, ARefusedSeatCostsNoAttemptToSignUp) {
  limit_signups({.per_address = 1, .together = 1});
  std::vector<PasswordWorkers::Seat> seats;
  for (int i = 0; i < 8; ++i) seats.push_back(*world_.passwords.seat({"198.51.100.7", false}));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(sign_up("ann@example.com", kPassword, "198.51.100.7").error().retry_after, Millis{1'000});
  seats.clear();
  EXPECT_TRUE(sign_up("ann@example.com", kPassword, "198.51.100.7"));
}

TEST_F(BuiltInIssuerTest, StrangersWhoUseUpAllSignUpsKeepNobodyFromChangingTheAddress) {
  limit_signups({.per_address = 1, .together = 1});
  const auto ann = sign_up("ann@example.com");
  ASSERT_TRUE(ann);
  ASSERT_EQ(sign_up("bob@example.com").error().code, "RATE_LIMIT_EXCEEDED");
  const auto moved = change_email(*ann, "moved@example.com");
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->email, "moved@example.com");
}

TEST_F(BuiltInIssuerTest, APersonAsksForTenAddressesInAnHour) {
  const auto ann = sign_up("ann@example.com");
  const auto bob = sign_up("bob@example.com");
  ASSERT_TRUE(ann && bob);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(change_email(*ann, "bob@example.com").error().code, "EMAIL_TAKEN") << i;
  EXPECT_TRUE(change_email(*ann, "moved@example.com"));
  for (const char* email : {"bob@example.com", "free@example.com"}) {
    const auto refused = change_email(*ann, email);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "RATE_LIMIT_EXCEEDED") << "who asks on learns nothing";
    EXPECT_EQ(refused.error().retry_after, Millis{std::chrono::minutes{6}});
  }
  EXPECT_TRUE(change_email(*bob, "free@example.com"));
  world_.clock().advance(std::chrono::minutes{6});
  EXPECT_TRUE(change_email(*ann, "again@example.com"));
}

TEST_F(BuiltInIssuerTest, ANetworkAsksForTwentyAddressesInAnHourWithAllItsAccounts) {
  const auto ann = sign_up("ann@example.com");
  const auto bob = sign_up("bob@example.com");
  const auto cid = sign_up("cid@example.com");
  ASSERT_TRUE(ann && bob && cid);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(change_email(*ann, "bob@example.com", "192.0.2.1").error().code, "EMAIL_TAKEN") << i;
    EXPECT_EQ(change_email(*bob, "ann@example.com", "192.0.2.1").error().code, "EMAIL_TAKEN") << i;
  }
  for (const char* email : {"ann@example.com", "free@example.com"}) {
    const auto refused = change_email(*cid, email, "192.0.2.1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "RATE_LIMIT_EXCEEDED") << "who asks on learns nothing";
    EXPECT_EQ(refused.error().retry_after, Millis{std::chrono::minutes{3}});
  }
  EXPECT_EQ(change_email(*cid, "ann@example.com", "192.0.2.2").error().code, "EMAIL_TAKEN");
  EXPECT_TRUE(change_email(*cid, "free@example.com")) << "a proxy that names no client has no budget";
  world_.clock().advance(std::chrono::minutes{3});
  EXPECT_EQ(change_email(*cid, "ann@example.com", "192.0.2.1").error().code, "EMAIL_TAKEN");
}

TEST_F(BuiltInIssuerTest, AnOverloadedHasherCostsNoTryToSignUp) {
  use_overloaded_hasher(SignUpLimits{.per_address = 1, .together = 1});
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(sign_up("ann@example.com", kPassword, "192.0.2.1").error().code, "OVERLOADED") << i;
}

TEST_F(BuiltInIssuerTest, ATakenAddressIsReportedWithoutHashing) {
  ASSERT_TRUE(sign_up("ann@example.com"));
  use_overloaded_hasher();
  EXPECT_EQ(sign_up("ann@example.com").error().code, "EMAIL_TAKEN");
  EXPECT_EQ(sign_up("bob@example.com").error().code, "OVERLOADED");
}

}  // namespace
}  // namespace presetbridge::identity
