#include "identity/built_in_issuer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "crypto/encoding.h"
#include "identity/testing.h"

namespace presetbridge::identity {
namespace {

constexpr const char* kPassword = "correct horse battery";

class BuiltInIssuerTest : public ::testing::Test {
 protected:
  BuiltInIssuerTest() {
    issuer_ = world_.issuer();
    if (auto started = world_.await(issuer_->start(world_.scheduler)); !started) throw started.error();
  }
  LoginResult<Tokens> sign_up(std::string email, std::string password = kPassword, std::string network = "") {
    net::Caller caller;
    if (!network.empty()) caller = {std::move(network), false};
    return world_.await(
        issuer_->sign_up(world_.scheduler, std::move(caller), std::move(email), std::move(password), ""));
  }
  LoginResult<Tokens> join(std::string email, std::string invitation, std::string network) {
    return world_.await(issuer_->sign_up(world_.scheduler, {std::move(network), false}, std::move(email),
                                         kPassword, "", {}, std::move(invitation)));
  }
  LoginResult<Tokens> change_email(const Tokens& of, std::string email, std::string network = "") {
    net::Caller caller;
    if (!network.empty()) caller = {std::move(network), false};
    return world_.await(
        issuer_->change_email(world_.scheduler, std::move(caller), person(of), kPassword, std::move(email)));
  }
  LoginResult<Tokens> sign_in(std::string email, std::string password = kPassword) {
    return world_.await(issuer_->sign_in(world_.scheduler, {}, std::move(email), std::move(password)));
  }
  Expected<Tokens> refresh(std::string token) {
    return world_.await(issuer_->sessions().refresh(world_.scheduler, std::move(token), {}));
  }
  Expected<VerifiedToken> verify(const std::string& token) {
    TokenVerifier verifier({issuer_.get()}, world_.clock());
    return world_.await(verifier.verify(world_.scheduler, token));
  }
  static Principal person(const Tokens& tokens) {
    Principal p;
    p.account = tokens.account;
    p.person =
        Person{tokens.user, Role::owner, "https://bridge.example", to_string(tokens.user), tokens.email};
    return p;
  }

  void limit_signups(SignUpLimits limits) {
    issuer_ = world_.issuer({.iss = "https://bridge.example", .signups = limits});
    ASSERT_TRUE(world_.await(issuer_->start(world_.scheduler)));
  }

  // From here on nothing can be hashed.
  void use_overloaded_hasher(std::optional<SignUpLimits> limits = std::nullopt) {
    issuer_ = std::make_unique<BuiltInIssuer>(
        BuiltInIssuer::Deps{world_.async_db, full_, world_.hasher, world_.cipher, world_.ids, world_.random,
                            world_.clock(), world_.log},
        BuiltInIssuerOptions{.iss = "https://bridge.example", .signups = limits});
    ASSERT_TRUE(world_.await(issuer_->start(world_.scheduler)));
  }

  std::int64_t rows_of_attempts() {
    static constexpr storage::Sql kCount{"SELECT count(*) FROM sign_in_tries"};
    std::int64_t rows = -1;
    world_.db->read([&](storage::Tx& tx) {
      rows = tx.one(kCount, [](const storage::Row& r) { return r.int64(0); }).value_or(-1);
    });
    return rows;
  }

  testing::World world_;
  PasswordWorkers full_{world_.hasher, {.threads = 0, .max_queue = 0}};
  std::unique_ptr<BuiltInIssuer> issuer_;
};

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

TEST_F(BuiltInIssuerTest, AnOverloadedHasherCostsNoTryToSignIn) {
  const auto tokens = sign_up("ann@example.com");
  ASSERT_TRUE(tokens);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(sign_in("ann@example.com", "wrong").error().code, "INVALID_CREDENTIALS");
  world_.clock().advance(std::chrono::seconds{30});
  auto calm = std::move(issuer_);
  use_overloaded_hasher();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(sign_in("ann@example.com").error().code, "OVERLOADED") << i;
    EXPECT_EQ(sign_in("nobody@example.com").error().code, "OVERLOADED") << i;
  }
  const auto change = [&](std::string current) {
    return world_.await(issuer_->change_password(world_.scheduler, {}, person(*tokens), std::move(current),
                                                 "another password"));
  };
  EXPECT_EQ(change(kPassword).error().code, "OVERLOADED");
  issuer_ = std::move(calm);
  EXPECT_EQ(sign_in("ann@example.com", "wrong").error().code, "INVALID_CREDENTIALS") << "the sixth failure";
  const auto locked = sign_in("ann@example.com");
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, "TOO_MANY_ATTEMPTS");
  EXPECT_EQ(locked.error().retry_after, Millis{60'000}) << "as after six failures, not more";
}

TEST_F(BuiltInIssuerTest, StrangersWhoGuessKeepNobodyWhoIsSignedInFromChangingThePassword) {
  const auto tokens = sign_up("ann@example.com");
  ASSERT_TRUE(tokens);
  for (int i = 0; i < 6; ++i) sign_in("ann@example.com", "wrong");
  ASSERT_EQ(sign_in("ann@example.com").error().code, "TOO_MANY_ATTEMPTS");
  const auto change = [&](std::string current) {
    return world_.await(issuer_->change_password(world_.scheduler, {}, person(*tokens), std::move(current),
                                                 "another password"));
  };
  EXPECT_EQ(change("a guess").error().code, "INVALID_CREDENTIALS");
  EXPECT_TRUE(change(kPassword));
}

TEST_F(BuiltInIssuerTest, AStrangerLocksAnAddressForTheirOwnNetworkOnly) {
  ASSERT_TRUE(sign_up("ann@example.com"));
  const auto from = [&](int network, std::string password) {
    const net::Caller caller{"198.51.100." + std::to_string(network), false};
    auto signed_in = world_.await(issuer_->sign_in(world_.scheduler, caller, "ann@example.com",
                                                   std::move(password), {.network = caller.network}));
    return signed_in ? std::string("signed in") : signed_in.error().code;
  };
  const auto guess_for_two_days = [&](int network) {
    for (int i = 0; i < 192; ++i) {
      from(network, "wrong");
      world_.clock().advance(std::chrono::minutes{15});
    }
    for (int i = 0; i < 2; ++i) from(network, "wrong");
  };
  guess_for_two_days(1);
  EXPECT_EQ(from(1, kPassword), "TOO_MANY_ATTEMPTS");
  EXPECT_EQ(from(2, kPassword), "signed in");
  EXPECT_EQ(from(1, kPassword), "TOO_MANY_ATTEMPTS")
      << "nobody else's sign-in unlocks the stranger's network";
  // Ten networks that guess lock it for all, as the newest failures of any of them do then.
  for (int network = 1; network <= 9; ++network) guess_for_two_days(network);
  EXPECT_EQ(from(20, kPassword), "signed in") << "failures of former days are forgotten";
  for (int network = 31; network <= 40; ++network) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(from(network, "wrong"), "INVALID_CREDENTIALS") << network << ", " << i;
      if (i >= 4 && network < 40) world_.clock().advance(std::chrono::minutes{15});
      if (i >= 4 && network == 40 && i < 9) world_.clock().advance(std::chrono::minutes{15});
    }
  }
  EXPECT_EQ(from(20, kPassword), "signed in") << "there Ann has a session";
  EXPECT_EQ(from(21, kPassword), "TOO_MANY_ATTEMPTS");
  world_.clock().advance(std::chrono::seconds{30});
  EXPECT_EQ(from(31, "wrong"), "INVALID_CREDENTIALS") << "the eleventh of its network";
  EXPECT_EQ(from(21, kPassword), "TOO_MANY_ATTEMPTS") << "counts for all now";
  world_.clock().advance(std::chrono::minutes{1});
  EXPECT_EQ(from(21, kPassword), "signed in");
}

TEST_F(BuiltInIssuerTest, NothingIsWrittenForWhatIsNotHashed) {
  ASSERT_TRUE(sign_up("ann@example.com"));
  use_overloaded_hasher();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(sign_in("stranger-" + std::to_string(i) + "@example.com").error().code, "OVERLOADED");
    EXPECT_EQ(sign_in("ann@example.com").error().code, "OVERLOADED");
  }
  EXPECT_EQ(rows_of_attempts(), 0);
}

TEST_F(BuiltInIssuerTest, ANetworkBeyondItsShareCostsNothing) {
  const net::Caller stranger{"198.51.100.7", false};
  std::vector<PasswordWorkers::Seat> seats;
  for (int i = 0; i < 8; ++i) seats.push_back(*world_.passwords.seat(stranger));
  const auto answer = [&](auto task) {
    auto ended = world_.await(std::move(task));
    return std::pair(ended.error().code, ended.error().retry_after);
  };
  const std::pair too_often(std::string("RATE_LIMIT_EXCEEDED"), std::optional(Millis{1'000}));
  EXPECT_EQ(answer(issuer_->sign_in(world_.scheduler, stranger, "ann@example.com", kPassword)), too_often);
  EXPECT_EQ(answer(issuer_->sign_up(world_.scheduler, stranger, "ann@example.com", kPassword, "")),
            too_often);
  EXPECT_EQ(rows_of_attempts(), 0);
  EXPECT_TRUE(sign_up("bob@example.com", kPassword, "198.51.100.8"));
  seats.clear();
  EXPECT_EQ(answer(issuer_->sign_in(world_.scheduler, stranger, "ann@example.com", kPassword)).first,
            "INVALID_CREDENTIALS");
}

TEST_F(BuiltInIssuerTest, OfManyAttemptsAtOnceNoMoreAreAnsweredThanOneAfterTheOther) {
  ASSERT_TRUE(sign_up("ann@example.com"));
  std::map<std::string, int> results;
  // All read before the first has ended; the right password is among those that are too many.
  for (int i = 0; i < 20; ++i) {
    spawn(issuer_->sign_in(world_.scheduler, {}, "ann@example.com", i == 10 ? kPassword : "a wrong guess"),
          [&](Outcome<LoginResult<Tokens>> outcome) {
            ++results[*outcome.value ? "signed in" : outcome.value->error().code];
          });
  }
  world_.scheduler.run();
  EXPECT_EQ(results, (std::map<std::string, int>{{"INVALID_CREDENTIALS", 5}, {"TOO_MANY_ATTEMPTS", 15}}));
}

TEST_F(BuiltInIssuerTest, AWrongPasswordAndAnUnknownAddressAreAnsweredAlike) {
  ASSERT_TRUE(sign_up("ann@example.com"));
  EXPECT_TRUE(sign_in("Ann@example.com"));
  const auto wrong = sign_in("ann@example.com", "wrong horse battery");
  const auto unknown = sign_in("nobody@example.com");
  ASSERT_FALSE(wrong);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(wrong.error(), unknown.error());
  EXPECT_EQ(wrong.error().code, "INVALID_CREDENTIALS");
}

TEST_F(BuiltInIssuerTest, FailuresLockForAGrowingWhileWhetherOrNotTheAddressHasAUser) {
  ASSERT_TRUE(sign_up("ann@example.com"));
  for (const std::string& email : {std::string("ann@example.com"), std::string("nobody@example.com")}) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(sign_in(email, "wrong").error().code, "INVALID_CREDENTIALS") << i;
    EXPECT_EQ(sign_in(email).error().code, "TOO_MANY_ATTEMPTS") << "even with the right password";
    world_.clock().advance(Millis{29'999});
    EXPECT_EQ(sign_in(email).error().code, "TOO_MANY_ATTEMPTS");
    world_.clock().advance(Millis{1});
    EXPECT_EQ(sign_in(email, "wrong").error().code, "INVALID_CREDENTIALS") << "one more try";
    world_.clock().advance(Millis{59'999});
    EXPECT_EQ(sign_in(email, "wrong").error().code, "TOO_MANY_ATTEMPTS") << "a minute now";
    world_.clock().advance(Millis{1});
  }
  EXPECT_TRUE(sign_in("ann@example.com"));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(sign_in("ann@example.com", "wrong").error().code, "INVALID_CREDENTIALS");
  EXPECT_TRUE(sign_in("ann@example.com")) << "a success forgets the failures";
}

TEST_F(BuiltInIssuerTest, TheLongestLockIsFifteenMinutes) {
  for (int i = 0; i < 40; ++i) {
    sign_in("nobody@example.com", "wrong");
    world_.clock().advance(std::chrono::minutes{15});
  }
  EXPECT_EQ(sign_in("nobody@example.com", "wrong").error().code, "INVALID_CREDENTIALS");
}

TEST_F(BuiltInIssuerTest, ARefreshTokenIsGoodOnceAndItsReuseEndsTheSignIn) {
  const auto first = sign_up("ann@example.com");
  const auto elsewhere = sign_in("ann@example.com");
  const auto second = refresh(first->refresh_token);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(second->refresh_token, first->refresh_token);
  EXPECT_TRUE(verify(second->id_token));
  EXPECT_EQ(second->user, first->user);

  EXPECT_EQ(refresh(first->refresh_token).error().code, "UNAUTHORIZED");
  EXPECT_FALSE(refresh(second->refresh_token)) << "its descendant is revoked too";
  EXPECT_TRUE(refresh(elsewhere->refresh_token)) << "another sign-in goes on";
}

TEST_F(BuiltInIssuerTest, RefreshTokensExpireAndAreNeverGuessed) {
  const auto tokens = sign_up("ann@example.com");
  for (const std::string& text : {std::string(), std::string("x"), std::string(kRefreshTokenPrefix),
                                  tokens->refresh_token + "A", tokens->id_token}) {
    EXPECT_EQ(refresh(text).error().code, "UNAUTHORIZED") << text;
  }
  world_.clock().advance(std::chrono::hours{24 * 30});
  EXPECT_EQ(refresh(tokens->refresh_token).error().code, "UNAUTHORIZED");
}

TEST_F(BuiltInIssuerTest, SignOutEndsOneSignIn) {
  const auto here = sign_up("ann@example.com");
  const auto elsewhere = sign_in("ann@example.com");
  ASSERT_TRUE(world_.await(issuer_->sessions().sign_out(world_.scheduler, here->refresh_token)));
  EXPECT_FALSE(refresh(here->refresh_token));
  EXPECT_TRUE(refresh(elsewhere->refresh_token));
  EXPECT_TRUE(world_.await(issuer_->sessions().sign_out(world_.scheduler, "unknown")));
}

TEST_F(BuiltInIssuerTest, APasswordChangeNeedsTheOldOneAndEndsEverySignIn) {
  const auto before = sign_up("ann@example.com");
  const auto change = [&](std::string current, std::string next) {
    return world_.await(
        issuer_->change_password(world_.scheduler, {}, person(*before), std::move(current), std::move(next)));
  };
  EXPECT_EQ(change("wrong horse battery", "another long one").error().code, "INVALID_CREDENTIALS");
  EXPECT_EQ(change(kPassword, "short").error().code, "VALIDATION_FAILED");
  const auto after = change(kPassword, "another long one");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_FALSE(refresh(before->refresh_token));
  EXPECT_TRUE(refresh(after->refresh_token));
  EXPECT_FALSE(sign_in("ann@example.com"));
  EXPECT_TRUE(sign_in("ann@example.com", "another long one"));
}

TEST_F(BuiltInIssuerTest, GuessesThroughPasswordChangeLockItToo) {
  const auto tokens = sign_up("ann@example.com");
  const auto change = [&](std::string current) {
    return world_.await(issuer_->change_password(world_.scheduler, {}, person(*tokens), std::move(current),
                                                 "another long one"));
  };
  for (int i = 0; i < 5; ++i) change("a wrong guess");
  EXPECT_EQ(change(kPassword).error().code, "TOO_MANY_ATTEMPTS");
  EXPECT_TRUE(sign_in("ann@example.com")) << "which is counted apart";
}

TEST_F(BuiltInIssuerTest, TheOperatorResetsAPasswordAndUnlocks) {
  const auto tokens = sign_up("ann@example.com");
  for (int i = 0; i < 5; ++i) sign_in("ann@example.com", "wrong");
  ASSERT_TRUE(
      world_.await(issuer_->reset_password(world_.scheduler, "Ann@example.com", "given by operator")));
  EXPECT_TRUE(sign_in("ann@example.com", "given by operator"));
  EXPECT_FALSE(refresh(tokens->refresh_token));
  EXPECT_EQ(world_.await(issuer_->reset_password(world_.scheduler, "x@example.com", "given by operator"))
                .error()
                .code,
            "NOT_FOUND");
}

TEST_F(BuiltInIssuerTest, AnotherNodeSignsWithTheSameKey) {
  const auto tokens = sign_up("ann@example.com");
  auto restarted = world_.issuer();
  ASSERT_TRUE(world_.await(restarted->start(world_.scheduler)));
  TokenVerifier verifier({restarted.get()}, world_.clock());
  EXPECT_TRUE(world_.await(verifier.verify(world_.scheduler, tokens->id_token)));
  EXPECT_EQ(restarted->jwks(), issuer_->jwks());
}

TEST_F(BuiltInIssuerTest, ANewKeyIsPublishedBeforeItSignsAndTheOldOneVerifiesUntilItIsDeleted) {
  const auto old = sign_up("ann@example.com");
  auto other = world_.issuer();
  ASSERT_TRUE(world_.await(other->start(world_.scheduler)));
  const auto reload = [&](BuiltInIssuer& issuer) {
    return world_.await(issuer.reload_keys(world_.scheduler));
  };
  const auto verifies = [&](BuiltInIssuer& issuer, const std::string& token) {
    const TokenVerifier verifier({&issuer}, world_.clock());
    return world_.await(verifier.verify(world_.scheduler, token)).has_value();
  };
  const auto kid_of = [](const std::string& token) {
    return std::string(crypto::text_of(*crypto::base64url_decode(token.substr(0, token.find('.')))));
  };
  EXPECT_EQ(world_.await(issuer_->add_key(world_.scheduler)), true);
  EXPECT_EQ(world_.await(other->add_key(world_.scheduler)), false) << "there are two";
  EXPECT_EQ(reload(*issuer_), 2);
  world_.clock().advance(kSigningKeyKnown - Millis{1});
  EXPECT_EQ(reload(*issuer_), 2);
  EXPECT_EQ(kid_of(sign_in("ann@example.com")->id_token), kid_of(old->id_token));

  // The other node has read the table in the time that it had for it.
  EXPECT_EQ(reload(*other), 2);
  world_.clock().advance(Millis{2});  // the key is later than the first, which was made at the same time
  EXPECT_EQ(reload(*issuer_), 2);
  const auto fresh = sign_in("ann@example.com");
  EXPECT_NE(kid_of(fresh->id_token), kid_of(old->id_token));
  for (auto* issuer : {issuer_.get(), other.get()}) {
    EXPECT_TRUE(verifies(*issuer, fresh->id_token));
    EXPECT_TRUE(verifies(*issuer, old->id_token));
  }
  world_.db->write(
      [](storage::Tx& tx) { storage::delete_issuer_key(tx, storage::issuer_keys(tx).at(1).kid); });
  EXPECT_EQ(reload(*issuer_), 1);
  EXPECT_TRUE(verifies(*issuer_, fresh->id_token));
  EXPECT_FALSE(verifies(*issuer_, old->id_token));
}

TEST_F(BuiltInIssuerTest, PrivateKeysAreNeitherPublishedNorStoredInTheClear) {
  const auto set = boost::json::parse(issuer_->jwks()).as_object();
  ASSERT_EQ(set.at("keys").as_array().size(), 1U);
  const auto& key = set.at("keys").as_array()[0].as_object();
  EXPECT_EQ(key.at("alg").as_string(), "ES256");
  EXPECT_FALSE(key.contains("d"));
  const auto discovery = boost::json::parse(issuer_->discovery_document()).as_object();
  EXPECT_EQ(discovery.at("issuer").as_string(), "https://bridge.example");
  EXPECT_EQ(discovery.at("jwks_uri").as_string(), "https://bridge.example/.well-known/jwks.json");

  world_.db->read([](storage::Tx& tx) {
    for (const auto& row : storage::issuer_keys(tx)) {
      EXPECT_FALSE(crypto::text_of(row.encrypted_private_jwk).contains("\"d\""));
    }
  });
}

TEST_F(BuiltInIssuerTest, AServiceKeyThatIsNotTheRowsStopsTheStart) {
  presetbridge::testing::SeededRandom other(99);
  std::vector<crypto::ServiceKey> keys;
  keys.push_back(crypto::generate_service_key(other));
  crypto::ServiceCipher cipher(std::move(keys), other);
  BuiltInIssuer issuer({world_.async_db, world_.passwords, world_.hasher, cipher, world_.ids, world_.random,
                        world_.clock(), world_.log},
                       {.iss = "https://bridge.example"});
  const auto started = world_.await(issuer.start(world_.scheduler));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, "UNKNOWN_SERVICE_KEY");
}

}  // namespace
}  // namespace presetbridge::identity
