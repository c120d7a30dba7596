#include "identity/sessions.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "crypto/opaque_token.h"
#include "identity/testing.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::identity {
namespace {

constexpr const char* kPassword = "correct horse battery";
const Device kBrowser{.browser = true, .network = "192.0.2.7", .user_agent = "Firefox on Linux"};
const Device kProgram{.browser = false, .network = "192.0.2.8", .user_agent = "curl"};

class SessionsTest : public ::testing::Test {
 protected:
  SessionsTest() {
    if (auto started = world_.await(issuer_->start(world_.scheduler)); !started) throw started.error();
  }
  Tokens sign_up(const Device& device) {
    auto made =
        world_.await(issuer_->sign_up(world_.scheduler, {}, "ann@example.com", kPassword, "", device));
    if (!made) throw std::runtime_error(made.error().message);
    return *made;
  }
  Tokens sign_in(const Device& device) {
    auto made = world_.await(issuer_->sign_in(world_.scheduler, {}, "ann@example.com", kPassword, device));
    if (!made) throw std::runtime_error(made.error().message);
    return *made;
  }
  LoginResult<Tokens> refresh(const std::string& token, const Device& device) {
    return world_.await(issuer_->sessions().refresh(world_.scheduler, token, device));
  }
  Expected<VerifiedToken> verify(const Tokens& tokens) {
    TokenVerifier verifier({issuer_.get()}, world_.clock());
    return world_.await(verifier.verify(world_.scheduler, tokens.id_token));
  }
  bool stands(SessionId id) {
    bool stands = false;
    world_.db->read([&](storage::Tx& tx) { stands = storage::find_session_member(tx, id).has_value(); });
    return stands;
  }
  static Principal person(const Tokens& tokens) {
    Principal p;
    p.account = tokens.account;
    p.person = Person{.id = tokens.user,
                      .role = Role::owner,
                      .iss = "https://bridge.example",
                      .sub = to_string(tokens.user),
                      .email = tokens.email,
                      .session = PersonSession{tokens.session, tokens.browser, tokens.authenticated_at}};
    return p;
  }
  std::vector<storage::SessionRow> list(const Tokens& of, int limit = 50) {
    auto page = world_.await(issuer_->sessions().list(world_.scheduler, person(of), {.limit = limit}));
    return page ? page->rows : std::vector<storage::SessionRow>();
  }
  std::vector<std::string> audit(const Tokens& of) {
    std::vector<std::string> actions;
    world_.db->read([&](storage::Tx& tx) {
      for (const auto& row : storage::list_audit(tx, of.account, {}).rows) actions.push_back(row.action);
    });
    return actions;
  }
  void pass(Millis time) { world_.clock().advance(time); }

  testing::World world_;
  std::unique_ptr<BuiltInIssuer> issuer_ = world_.issuer();
};

TEST_F(SessionsTest, AnIdTokenNamesItsSessionAndWhenThePersonSignedIn) {
  const auto tokens = sign_up(kBrowser);
  const auto verified = verify(tokens);
  ASSERT_TRUE(verified);
  EXPECT_EQ(verified->session, tokens.session);
  ASSERT_TRUE(verified->auth_time);
  EXPECT_LT(world_.clock().now() - *verified->auth_time, std::chrono::seconds{1});
  pass(std::chrono::minutes{20});
  const auto later = refresh(tokens.refresh_token, kBrowser);
  ASSERT_TRUE(later);
  EXPECT_EQ(verify(*later)->auth_time, verified->auth_time) << "a refresh is no sign-in";
}

TEST_F(SessionsTest, TwoTabsThatRefreshAtOnceBothGoOn) {
  const auto first = sign_up(kBrowser);
  const auto here = refresh(first.refresh_token, kBrowser);
  const auto there = refresh(first.refresh_token, kBrowser);
  ASSERT_TRUE(here && there);
  pass(Millis{10'000});
  EXPECT_TRUE(refresh(first.refresh_token, kBrowser)) << "an answer that was lost may come so late";
  // Whichever of them the browser kept, it goes on with that.
  const auto next = refresh(here->refresh_token, kBrowser);
  ASSERT_TRUE(next);
  pass(std::chrono::minutes{50});
  EXPECT_TRUE(refresh(next->refresh_token, kBrowser));
  EXPECT_TRUE(stands(first.session));
}

TEST_F(SessionsTest, AReplacedTokenEndsTheSessionAfterTheGrace) {
  const auto first = sign_up(kBrowser);
  const auto second = refresh(first.refresh_token, kBrowser);
  ASSERT_TRUE(second);
  pass(Millis{10'001});
  EXPECT_EQ(refresh(first.refresh_token, kBrowser).error().code, "UNAUTHORIZED");
  EXPECT_EQ(refresh(second->refresh_token, kBrowser).error().code, "UNAUTHORIZED");
  EXPECT_FALSE(stands(first.session)) << "its ID tokens open nothing any more";
}

TEST_F(SessionsTest, AThiefWhoForkedWithinTheGraceIsFoundAtTheNextRefresh) {
  const auto first = sign_up(kBrowser);
  const auto owner = refresh(first.refresh_token, kBrowser);
  const auto thief = refresh(first.refresh_token, kBrowser);
  ASSERT_TRUE(owner && thief);
  ASSERT_TRUE(refresh(owner->refresh_token, kBrowser));
  pass(Millis{10'001});
  EXPECT_FALSE(refresh(thief->refresh_token, kBrowser));
  EXPECT_FALSE(stands(first.session));
}

TEST_F(SessionsTest, OnlyABrowserHasGrace) {
  const auto first = sign_up(kProgram);
  ASSERT_TRUE(refresh(first.refresh_token, kProgram));
  EXPECT_FALSE(refresh(first.refresh_token, kProgram));
  EXPECT_FALSE(stands(first.session));
}

TEST_F(SessionsTest, ACookiesTokenIsNoneOfABodyAndTheOtherWayRound) {
  const auto browser = sign_up(kBrowser);
  const auto program = sign_in(kProgram);
  EXPECT_EQ(refresh(browser.refresh_token, kProgram).error().code, "UNAUTHORIZED");
  EXPECT_EQ(refresh(program.refresh_token, kBrowser).error().code, "UNAUTHORIZED");
  EXPECT_TRUE(refresh(browser.refresh_token, kBrowser)) << "nothing was used up";
  EXPECT_TRUE(refresh(program.refresh_token, kProgram));
}

TEST_F(SessionsTest, TheGraceGivesNoTokensWithoutEnd) {
  const auto first = sign_up(kBrowser);
  int given = 0;
  LoginResult<Tokens> last = first;
  while (last && given < 200) {
    last = refresh(first.refresh_token, kBrowser);
    if (last) ++given;
  }
  EXPECT_EQ(given, 50);
  EXPECT_EQ(last.error().code, "RATE_LIMIT_EXCEEDED");
  EXPECT_TRUE(stands(first.session));
}

TEST_F(SessionsTest, APersonRefreshesSoOftenInAllTheirSessions) {
  auto one = sign_up(kProgram);
  auto other = sign_in(kProgram);
  for (int i = 0; i < 300; ++i) {
    one = refresh(one.refresh_token, kProgram).value();
    other = refresh(other.refresh_token, kProgram).value();
  }
  const auto late = refresh(one.refresh_token, kProgram);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(late.error().retry_after, Millis{1'000});
  EXPECT_EQ(refresh(other.refresh_token, kProgram).error().code, "RATE_LIMIT_EXCEEDED");
  pass(Millis{1'000});
  const auto again = refresh(one.refresh_token, kProgram);
  ASSERT_TRUE(again) << "it was not used up";
  EXPECT_FALSE(refresh(one.refresh_token, kProgram));
  EXPECT_FALSE(stands(one.session)) << "one that is used twice ends its session all the same";
}

TEST_F(SessionsTest, APersonBeginsSoManySessionsInAnHour) {
  const auto first = sign_up(kBrowser);
  for (int n = 1; n < 200; ++n) sign_in(n % 2 == 0 ? kBrowser : kProgram);
  const auto code_and_wait = [](const LoginResult<Tokens>& result) {
    return result ? std::pair(std::string("signed in"), std::optional<Millis>())
                  : std::pair(result.error().code, result.error().retry_after);
  };
  const std::pair too_often(std::string("RATE_LIMIT_EXCEEDED"), std::optional(Millis{18'000}));
  const auto another = [&](std::string password) {
    return code_and_wait(world_.await(
        issuer_->sign_in(world_.scheduler, {}, "ann@example.com", std::move(password), kProgram)));
  };
  EXPECT_EQ(another(kPassword), too_often);
  EXPECT_EQ(another("a wrong guess").first, "INVALID_CREDENTIALS") << "only the person learns of it";
  EXPECT_EQ(code_and_wait(world_.await(issuer_->change_password(world_.scheduler, {}, person(first),
                                                                kPassword, "another long one", kBrowser))),
            too_often);
  EXPECT_EQ(list(first, 300).size(), 200U);
  EXPECT_TRUE(
      world_.await(issuer_->sign_up(world_.scheduler, {}, "bob@example.com", kPassword, "", kProgram)));
  pass(Millis{18'000});
  EXPECT_EQ(another(kPassword).first, "signed in");
}

TEST_F(SessionsTest, ASessionEndsWhenItIsIdleForThirtyDays) {
  auto tokens = sign_up(kBrowser);
  pass(std::chrono::days{30} - Millis{1});
  const auto used = refresh(tokens.refresh_token, kBrowser);
  ASSERT_TRUE(used);
  pass(std::chrono::days{30});
  EXPECT_FALSE(refresh(used->refresh_token, kBrowser));
  EXPECT_FALSE(stands(tokens.session));
}

TEST_F(SessionsTest, ASessionEndsAfterNinetyDaysInAll) {
  const auto began = world_.clock().now();
  auto tokens = sign_up(kBrowser);
  for (int week = 0; week < 12; ++week) {
    pass(std::chrono::days{7});
    auto next = refresh(tokens.refresh_token, kBrowser);
    ASSERT_TRUE(next) << week;
    tokens = *next;
  }
  pass(std::chrono::days{6} - std::chrono::minutes{1});
  const auto last = refresh(tokens.refresh_token, kBrowser);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->refresh_token_expires_at, began + std::chrono::days{90});
  EXPECT_LE(last->id_token_expires_at, began + std::chrono::days{90})
      << "its last ID token no longer than it";
  pass(std::chrono::minutes{1});
  EXPECT_FALSE(refresh(last->refresh_token, kBrowser));
  EXPECT_FALSE(stands(tokens.session));
}

TEST_F(SessionsTest, SessionsAreListedNewestFirstWithWhatTheyAreKnownBy) {
  const auto first = sign_up(kProgram);
  pass(std::chrono::minutes{1});
  const auto second = sign_in(kBrowser);
  pass(std::chrono::minutes{1});
  ASSERT_TRUE(refresh(second.refresh_token, {.browser = true, .network = "203.0.113.9", .user_agent = "x"}));
  const auto rows = list(first);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, second.session);
  EXPECT_EQ(rows[0].network, "203.0.113.9") << "where it was last used";
  EXPECT_EQ(rows[0].last_used_at - rows[0].created_at, std::chrono::minutes{1});
  EXPECT_FALSE(rows[1].browser);
  EXPECT_EQ(rows[1].user_agent, "curl");
  EXPECT_EQ(list(first, 1).size(), 1U);
  pass(std::chrono::days{30});
  EXPECT_TRUE(list(first).empty()) << "expired ones are none";
}

TEST_F(SessionsTest, ASessionIsEndedFromAnotherAndOnlyByItsPerson) {
  const auto mine = sign_up(kBrowser);
  const auto stolen = sign_in(kBrowser);
  const auto other =
      world_.await(issuer_->sign_up(world_.scheduler, {}, "bob@example.com", kPassword, "", kBrowser));
  ASSERT_TRUE(other);
  const auto end = [&](const Tokens& by, SessionId id) {
    auto ended = world_.await(issuer_->sessions().end(world_.scheduler, person(by), id));
    return ended ? std::string("ended") : ended.error().code;
  };
  EXPECT_EQ(end(*other, stolen.session), "NOT_FOUND");
  EXPECT_EQ(end(mine, stolen.session), "ended");
  EXPECT_EQ(end(mine, stolen.session), "NOT_FOUND");
  EXPECT_FALSE(refresh(stolen.refresh_token, kBrowser));
  EXPECT_FALSE(stands(stolen.session));
  EXPECT_TRUE(refresh(mine.refresh_token, kBrowser));
  EXPECT_EQ(list(mine).size(), 1U);
  EXPECT_EQ(audit(mine), (std::vector<std::string>{"session.ended", "session.started", "session.started",
                                                   "account.created"}));
}

TEST_F(SessionsTest, SigningOutEverywhereEndsAllOfThePersonAndNobodyElses) {
  const auto mine = sign_up(kBrowser);
  const auto program = sign_in(kProgram);
  const auto other =
      world_.await(issuer_->sign_up(world_.scheduler, {}, "bob@example.com", kPassword, "", kBrowser));
  ASSERT_TRUE(world_.await(issuer_->sessions().end_all(world_.scheduler, person(mine))));
  EXPECT_FALSE(stands(mine.session));
  EXPECT_FALSE(refresh(program.refresh_token, kProgram));
  EXPECT_TRUE(stands(other->session));
}

TEST_F(SessionsTest, SigningOutEverywhereElseEndsAllButTheOwnSession) {
  const auto mine = sign_up(kBrowser);
  const auto program = sign_in(kProgram);
  const auto other =
      world_.await(issuer_->sign_up(world_.scheduler, {}, "bob@example.com", kPassword, "", kBrowser));
  ASSERT_TRUE(world_.await(issuer_->sessions().end_others(world_.scheduler, person(mine))));
  EXPECT_TRUE(refresh(mine.refresh_token, kBrowser));
  EXPECT_FALSE(refresh(program.refresh_token, kProgram));
  EXPECT_FALSE(stands(program.session));
  EXPECT_TRUE(stands(other->session));
  EXPECT_EQ(audit(mine).front(), "sessions.others_ended");
}

TEST_F(SessionsTest, APasswordChangeEndsAllAndBeginsOne) {
  const auto before = sign_up(kBrowser);
  const auto program = sign_in(kProgram);
  const auto after = world_.await(issuer_->change_password(world_.scheduler, {}, person(before), kPassword,
                                                           "another long one", kBrowser));
  ASSERT_TRUE(after);
  EXPECT_FALSE(stands(before.session));
  EXPECT_FALSE(stands(program.session));
  EXPECT_TRUE(stands(after->session));
  EXPECT_TRUE(after->browser);
  const auto reset =
      world_.await(issuer_->reset_password(world_.scheduler, "ann@example.com", "given by operator"));
  ASSERT_TRUE(reset);
  EXPECT_EQ(*reset, before.account);
  EXPECT_FALSE(stands(after->session));
}

TEST_F(SessionsTest, TheOldestGiveWayWhereAPersonHasAHundredOfAKind) {
  const auto first = sign_up(kBrowser);
  const auto program = sign_in(kProgram);
  for (int n = 0; n < 99; ++n) {
    pass(Millis{1});
    sign_in(kBrowser);
  }
  EXPECT_TRUE(stands(first.session));
  sign_in(kBrowser);
  EXPECT_FALSE(stands(first.session));
  EXPECT_TRUE(stands(program.session)) << "a program's are counted apart";
}

TEST_F(SessionsTest, TheRightPasswordMakesASignInFreshAgain) {
  const auto tokens = sign_up(kBrowser);
  pass(std::chrono::minutes{11});
  EXPECT_FALSE(person(tokens).signed_in_lately(world_.clock().now()));
  const auto step_up = [&](Principal by, std::string password) {
    return world_.await(issuer_->step_up(world_.scheduler, {}, std::move(by), std::move(password)));
  };
  EXPECT_EQ(step_up(person(tokens), "a wrong guess").error().code, "INVALID_CREDENTIALS");
  const auto fresh = step_up(person(tokens), kPassword);
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_EQ(fresh->session, tokens.session);
  EXPECT_TRUE(fresh->refresh_token.empty());
  EXPECT_TRUE(person(*fresh).signed_in_lately(world_.clock().now()));
  const auto verified = verify(*fresh);
  ASSERT_TRUE(verified && verified->auth_time);
  EXPECT_LT(world_.clock().now() - *verified->auth_time, std::chrono::seconds{1});
  EXPECT_FALSE(person(tokens).signed_in_lately(world_.clock().now()))
      << "a token of before is as old as it is";
  const auto refreshed = refresh(tokens.refresh_token, kBrowser);
  ASSERT_TRUE(refreshed) << "the cookie stays";
  EXPECT_TRUE(person(*refreshed).signed_in_lately(world_.clock().now()));
  EXPECT_EQ(step_up(person(sign_in(kProgram)), kPassword).error().code, "FORBIDDEN");
  auto theirs = person(tokens);
  theirs.person->iss = "https://id.example";
  EXPECT_EQ(step_up(theirs, kPassword).error().code, "FORBIDDEN");
  ASSERT_TRUE(world_.await(issuer_->sessions().end_all(world_.scheduler, person(tokens))));
  EXPECT_EQ(step_up(person(tokens), kPassword).error().code, "UNAUTHORIZED");
}

// Spec 8.6: each leaves a row of the audit log.
TEST_F(SessionsTest, StepUpsCountAsSignInsOfThePerson) {
  const auto tokens = sign_up(kBrowser);
  const auto step_up = [&] {
    return world_.await(issuer_->step_up(world_.scheduler, {}, person(tokens), kPassword));
  };
  for (int n = 1; n < 200; ++n) ASSERT_TRUE(step_up()) << n;
  for (int n = 0; n < 3; ++n) {
    const auto refused = step_up();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "RATE_LIMIT_EXCEEDED");
    EXPECT_EQ(refused.error().retry_after, Millis{18'000});
  }
  int confirmed = 0;
  world_.db->read([&](storage::Tx& tx) {
    static constexpr storage::Sql kCount{"SELECT count(*) FROM audit_log WHERE action = 'session.confirmed'"};
    confirmed = tx.one(kCount, [](const storage::Row& r) { return static_cast<int>(r.int64(0)); }).value();
  });
  EXPECT_EQ(confirmed, 199) << "the sign-up was the first";
  pass(Millis{18'000});
  EXPECT_TRUE(step_up());
}

TEST_F(SessionsTest, OnlySessionsOfBrowsersAgeOutOfAFreshSignIn) {
  const auto now = world_.clock().now();
  Principal p;
  EXPECT_TRUE(p.signed_in_lately(now)) << "a key";
  p.person = Person{};
  EXPECT_TRUE(p.signed_in_lately(now)) << "a token of another issuer";
  p.person->session = PersonSession{SessionId{1}, false, std::nullopt};
  EXPECT_TRUE(p.signed_in_lately(now)) << "a program";
  p.person->session->browser = true;
  EXPECT_FALSE(p.signed_in_lately(now)) << "nobody said when";
  p.person->session->authenticated_at = now - kStepUpAfter;
  EXPECT_TRUE(p.signed_in_lately(now));
  p.person->session->authenticated_at = now - kStepUpAfter - Millis{1};
  EXPECT_FALSE(p.signed_in_lately(now));
}

// Tokens that a program before sessions has left.
class TokensOfBeforeTest : public SessionsTest {
 protected:
  static constexpr storage::Sql kInsert{
      "INSERT INTO refresh_tokens (hash, user_id, family, created_at, expires_at, revoked_at)"
      " VALUES ($1, $2, $3, $4, $5, $6)"};
  std::string leave(UserId user, std::int64_t family, bool revoked = false) {
    auto token = crypto::generate_opaque_token(world_.random, kRefreshTokenPrefix);
    world_.db->write([&](storage::Tx& tx) {
      const auto now = tx.now();
      tx.exec(kInsert, storage::Blob(token.hash), user, family, now, now + std::chrono::days{30},
              revoked ? std::optional(now) : std::nullopt);
    });
    return token.text;
  }
};

TEST_F(TokensOfBeforeTest, OneBeginsASessionOnce) {
  const auto user = sign_up(kProgram).user;
  const auto old = leave(user, 4711);
  const auto session = refresh(old, kProgram);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->session, SessionId{4711});
  EXPECT_FALSE(session->authenticated_at);
  ASSERT_TRUE(refresh(session->refresh_token, kProgram));
  EXPECT_FALSE(refresh(old, kProgram)) << "a thief has it";
  EXPECT_FALSE(stands(SessionId{4711}));
}

TEST_F(TokensOfBeforeTest, OneIsEndedByWhatEndsSessions) {
  const auto me = sign_up(kProgram);
  const auto out = leave(me.user, 1);
  EXPECT_TRUE(world_.await(issuer_->sessions().sign_out(world_.scheduler, out)).value_or(false));
  EXPECT_FALSE(refresh(out, kProgram));
  const auto everywhere = leave(me.user, 2);
  ASSERT_TRUE(world_.await(issuer_->sessions().end_all(world_.scheduler, person(me))));
  EXPECT_FALSE(refresh(everywhere, kProgram));
  EXPECT_FALSE(refresh(leave(me.user, 3), kBrowser)) << "it was never a cookie";
}

}  // namespace
}  // namespace presetbridge::identity
