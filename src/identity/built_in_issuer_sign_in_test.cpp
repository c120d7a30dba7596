// Attempts to sign in: which are counted, and whom they lock out (spec 7.2).
#include <map>

#include "identity/built_in_issuer_testing.h"

namespace presetbridge::identity {
namespace {

using testing::BuiltInIssuerTest;
using testing::kPassword;

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

}  // namespace
}  // namespace presetbridge::identity
