#include "services/accounts/people.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "identity/testing.h"
#include "services/accounts/accounts.h"
#include "services/accounts/disabled_accounts.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::services {
namespace {

using identity::Role;

constexpr const char* kPassword = "a long pass phrase";
const identity::Device kBrowser{
    .browser = true, .network = "192.0.2.7", .user_agent = "Firefox on Linux", .request_id = "req-1"};

class PeopleTest : public ::testing::Test {
 protected:
  PeopleTest() { owner_ = found("owner@shop.example"); }

  // The operator makes the account.
  identity::Principal found(const std::string& email) {
    return of(world_.await(operators_->sign_up(world_.scheduler, {}, email, kPassword, "Tone Club", kBrowser))
                  .value()
                  .id_token);
  }

  identity::Tokens tokens_of(const std::string& email, const std::string& invitation = "") {
    auto tokens =
        world_.await(issuer_->sign_up(world_.scheduler, {}, email, kPassword, "", kBrowser, invitation));
    if (!tokens) throw std::runtime_error(tokens.error().code);
    return std::move(*tokens);
  }
  std::string code_of_sign_up(const std::string& email, const std::string& invitation) {
    const auto tokens =
        world_.await(issuer_->sign_up(world_.scheduler, {}, email, kPassword, "", {}, invitation));
    return tokens ? "" : tokens.error().code;
  }
  // Joins with an identity of another issuer, in a transaction of its own.
  std::string code_of_join(const std::string& sub, const std::string& invitation) {
    return code_of(world_.await(world_.async_db.write(world_.scheduler, [&](storage::Tx& tx) {
      return identity::join_account(tx, world_.ids, world_.ids.make<UserId>(), "https://id.example", sub, "",
                                    invitation, {});
    })));
  }
  identity::Principal sign_up(const std::string& email, const std::string& invitation = "") {
    return of(tokens_of(email, invitation).id_token);
  }
  identity::Principal of(const std::string& id_token) {
    auto token = world_.await(verifier_.verify(world_.scheduler, id_token)).value();
    return world_.await(accounts_.principal_of(world_.scheduler, std::move(token))).value();
  }
  std::string invite(Role role = Role::member, std::optional<Timestamp> expires_at = std::nullopt) {
    return world_.await(people_.invite(world_.scheduler, owner_, role, "for somebody", expires_at))
        .value()
        .token;
  }
  static std::string code_of(const auto& result) { return result ? "" : result.error().code; }
  std::vector<storage::PersonRow> everybody() {
    return world_.await(people_.list(world_.scheduler, owner_, {})).value().rows;
  }
  std::vector<std::string> audited() {
    std::vector<std::string> actions;
    const auto page =
        world_.await(accounts_.audit_log(world_.scheduler, owner_.account, {}, {.limit = 100})).value();
    for (const auto& row : page.rows) actions.push_back(row.action);
    return actions;
  }

  identity::testing::World world_;
  std::unique_ptr<identity::BuiltInIssuer> issuer_ = [this] {
    auto made = world_.issuer({.iss = "https://bridge.example", .signup = identity::Signup::invite});
    if (!world_.await(made->start(world_.scheduler))) throw std::runtime_error("the issuer does not start");
    return made;
  }();
  std::unique_ptr<identity::BuiltInIssuer> operators_ = [this] {
    auto made = world_.issuer();
    if (!world_.await(made->start(world_.scheduler))) throw std::runtime_error("the issuer does not start");
    return made;
  }();
  identity::TokenVerifier verifier_{{issuer_.get()}, world_.clock()};
  Accounts accounts_{world_.async_db, world_.ids, identity::Signup::invite};
  People people_{{world_.async_db, world_.ids, world_.random, verifier_}, identity::Signup::invite, true};
  identity::Principal owner_;
};

TEST_F(PeopleTest, WhoHasALinkJoinsItsAccount) {
  const auto member = sign_up("ann@shop.example", invite());
  EXPECT_EQ(member.account, owner_.account);
  EXPECT_EQ(member.person->role, Role::member);
  EXPECT_FALSE(member.may(identity::Permission::owner));
  EXPECT_TRUE(member.may(identity::Permission::account));
  EXPECT_TRUE(owner_.may(identity::Permission::owner));
  const auto people = everybody();
  ASSERT_EQ(people.size(), 2U);
  EXPECT_EQ(people[0].email, "ann@shop.example");
  EXPECT_EQ(people[1].role, "owner");
}

TEST_F(PeopleTest, AnInvitationIsGoodOnceAndUntilItsTime) {
  const auto used = invite();
  sign_up("ann@shop.example", used);
  EXPECT_EQ(code_of_sign_up("bob@shop.example", used), "INVITATION_INVALID");
  EXPECT_EQ(code_of(world_.await(people_.find_invitation(world_.scheduler, used))), "INVITATION_INVALID");

  const auto old = invite(Role::member, world_.clock().now() + std::chrono::hours{1});
  EXPECT_EQ(world_.await(people_.find_invitation(world_.scheduler, old)).value().account_name, "Tone Club");
  world_.clock().advance(std::chrono::hours{1});
  EXPECT_EQ(code_of(world_.await(people_.find_invitation(world_.scheduler, old))), "INVITATION_INVALID");
  EXPECT_EQ(code_of_sign_up("bob@shop.example", old), "INVITATION_INVALID");
  EXPECT_TRUE(world_.await(people_.invitations(world_.scheduler, owner_, {})).value().rows.empty());

  for (const auto* nonsense : {"", "pdb_invite_", "pdb_refresh_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
    EXPECT_EQ(code_of(world_.await(people_.find_invitation(world_.scheduler, nonsense))),
              "INVITATION_INVALID");
  EXPECT_EQ(everybody().size(), 2U);
}

TEST_F(PeopleTest, AnAddressThatIsTakenUsesNoInvitationUp) {
  const auto token = invite();
  EXPECT_EQ(code_of_sign_up("owner@shop.example", token), "EMAIL_TAKEN");
  EXPECT_EQ(sign_up("ann@shop.example", token).account, owner_.account);
}

TEST_F(PeopleTest, ARevokedInvitationOpensNothing) {
  const auto token = invite();
  const auto open = world_.await(people_.invitations(world_.scheduler, owner_, {})).value();
  ASSERT_EQ(open.rows.size(), 1U);
  const auto other = found("other@shop.example");
  EXPECT_EQ(code_of(world_.await(people_.revoke(world_.scheduler, other, open.rows[0].id))), "NOT_FOUND");
  EXPECT_EQ(code_of(world_.await(people_.revoke(world_.scheduler, owner_, open.rows[0].id))), "");
  EXPECT_EQ(code_of_sign_up("ann@shop.example", token), "INVITATION_INVALID");
}

// Its tokens would open nothing. The invitation is not used up.
TEST_F(PeopleTest, NobodyJoinsAnAccountThatTheOperatorHasDisabled) {
  DisabledAccounts disabled(world_.async_db, world_.ids, world_.clock());
  const auto token = invite();
  ASSERT_TRUE(world_.await(disabled.disable(world_.scheduler, owner_.account, "")));
  const auto before = audited();
  EXPECT_EQ(code_of_sign_up("ann@shop.example", token), "ACCOUNT_DISABLED");
  EXPECT_EQ(code_of(world_.await(people_.find_invitation(world_.scheduler, token))), "ACCOUNT_DISABLED");
  EXPECT_EQ(code_of_join("ann", token), "ACCOUNT_DISABLED");
  EXPECT_EQ(everybody().size(), 1U);
  EXPECT_EQ(audited(), before);
  ASSERT_TRUE(world_.await(disabled.enable(world_.scheduler, owner_.account)));
  EXPECT_EQ(sign_up("ann@shop.example", token).account, owner_.account);
}

TEST_F(PeopleTest, NobodyJoinsWithoutAnInvitationWhereThatIsThePolicy) {
  EXPECT_EQ(code_of_sign_up("ann@shop.example", ""), "SIGNUP_CLOSED");
  const identity::VerifiedToken stranger{.iss = "https://id.example",
                                         .sub = "s",
                                         .email = "s@id.example",
                                         .expires_at = world_.clock().now() + std::chrono::hours{1}};
  EXPECT_EQ(code_of(world_.await(accounts_.principal_of(world_.scheduler, stranger))), "FORBIDDEN");
}

TEST_F(PeopleTest, TheLastOwnerStays) {
  const auto ann = sign_up("ann@shop.example", invite());
  const auto& me = owner_.person->id;
  EXPECT_EQ(code_of(world_.await(people_.leave(world_.scheduler, owner_))), "LAST_OWNER");
  EXPECT_EQ(code_of(world_.await(people_.remove(world_.scheduler, owner_, me))), "LAST_OWNER");
  EXPECT_EQ(code_of(world_.await(people_.set_role(world_.scheduler, owner_, me, Role::member))),
            "LAST_OWNER");
  EXPECT_EQ(code_of(world_.await(people_.set_role(world_.scheduler, owner_, ann.person->id, Role::owner))),
            "");
  EXPECT_EQ(code_of(world_.await(people_.leave(world_.scheduler, owner_))), "");
  EXPECT_EQ(code_of(world_.await(people_.leave(world_.scheduler, ann))), "LAST_OWNER");
}

// The request was admitted while they were one.
TEST_F(PeopleTest, WhoIsNoOwnerAnyMoreChangesNothing) {
  const auto ann = sign_up("ann@shop.example", invite(Role::owner));
  const auto bob = sign_up("bob@shop.example", invite());
  invite();
  const auto open = world_.await(people_.invitations(world_.scheduler, owner_, {})).value();
  ASSERT_EQ(open.rows.size(), 1U);
  ASSERT_TRUE(world_.await(people_.set_role(world_.scheduler, owner_, ann.person->id, Role::member)));
  EXPECT_EQ(code_of(world_.await(people_.set_role(world_.scheduler, ann, bob.person->id, Role::owner))),
            "FORBIDDEN");
  EXPECT_EQ(code_of(world_.await(people_.remove(world_.scheduler, ann, bob.person->id))), "FORBIDDEN");
  EXPECT_EQ(code_of(world_.await(people_.revoke(world_.scheduler, ann, open.rows[0].id))), "FORBIDDEN");
  EXPECT_EQ(everybody().size(), 3U);
  EXPECT_EQ(world_.await(people_.invitations(world_.scheduler, owner_, {})).value().rows.size(), 1U);
}

TEST_F(PeopleTest, WhoIsTakenOutIsSignedOutAndUnknown) {
  const auto tokens = tokens_of("ann@shop.example", invite());
  const auto ann = of(tokens.id_token);
  EXPECT_EQ(code_of(world_.await(people_.remove(world_.scheduler, owner_, ann.person->id))), "");
  EXPECT_EQ(
      code_of(world_.await(issuer_->sessions().refresh(world_.scheduler, tokens.refresh_token, kBrowser))),
      "UNAUTHORIZED");
  auto token = world_.await(verifier_.verify(world_.scheduler, tokens.id_token)).value();
  EXPECT_EQ(code_of(world_.await(accounts_.principal_of(world_.scheduler, std::move(token)))),
            "UNAUTHORIZED");
  const auto in = world_.await(issuer_->sign_in(world_.scheduler, {}, "ann@shop.example", kPassword));
  EXPECT_EQ(in.error().code, "INVALID_CREDENTIALS");
  static constexpr storage::Sql kUsers{"SELECT email, password_hash FROM users WHERE id = $1"};
  static constexpr storage::Sql kSessions{
      "SELECT email, network, user_agent FROM sessions WHERE user_id = $1"};
  world_.db->read([&](storage::Tx& tx) {
    tx.query(kUsers, ann.person->id, [&](const storage::Row& r) {
      EXPECT_EQ(r.text(0), to_string(ann.person->id));
      EXPECT_EQ(r.text(1), "");
    });
    tx.query(kSessions, ann.person->id,
             [&](const storage::Row& r) { EXPECT_EQ(r.string(0) + r.string(1) + r.string(2), ""); });
  });
  // The address is free.
  EXPECT_EQ(sign_up("ann@shop.example", invite()).account, owner_.account);
}

TEST_F(PeopleTest, AnotherAccountsPeopleAreNobody) {
  const auto other = found("other@shop.example");
  const auto me = owner_.person->id;
  EXPECT_EQ(code_of(world_.await(people_.get(world_.scheduler, other, me))), "NOT_FOUND");
  EXPECT_EQ(code_of(world_.await(people_.set_role(world_.scheduler, other, me, Role::owner))), "NOT_FOUND");
  EXPECT_EQ(code_of(world_.await(people_.remove(world_.scheduler, other, me))), "NOT_FOUND");
}

TEST_F(PeopleTest, AnAccountHasSoManyInvitationsAndPeople) {
  std::vector<std::string> tokens;
  for (int i = 0; i < kMostInvitations; ++i) tokens.push_back(invite());
  const auto one_more =
      world_.await(people_.invite(world_.scheduler, owner_, Role::member, "", std::nullopt));
  EXPECT_EQ(code_of(one_more), "LIMIT_REACHED");
  for (int i = 0; i + 1 < identity::kMostPeople; ++i)
    sign_up("p" + std::to_string(i) + "@shop.example", tokens[static_cast<std::size_t>(i)]);
  EXPECT_EQ(code_of_sign_up("late@shop.example", tokens.back()), "LIMIT_REACHED");
}

TEST_F(PeopleTest, AnInvitationLivesThirtyDaysAtMost) {
  const auto now = world_.clock().now();
  for (const auto at : {now, now - Millis{1}, now + kLongestInvitation + Millis{1}}) {
    const auto made = world_.await(people_.invite(world_.scheduler, owner_, Role::member, "", at));
    EXPECT_EQ(code_of(made), "VALIDATION_FAILED");
  }
}

TEST_F(PeopleTest, WhatBecomesOfPeopleIsAudited) {
  const auto ann = sign_up("ann@shop.example", invite());
  ASSERT_TRUE(world_.await(people_.set_role(world_.scheduler, owner_, ann.person->id, Role::owner)));
  ASSERT_TRUE(world_.await(people_.leave(world_.scheduler, ann)));
  EXPECT_EQ(audited(), (std::vector<std::string>{"person.left", "person.role_changed", "session.started",
                                                 "person.joined", "invitation.created", "session.started",
                                                 "account.created"}));
}

}  // namespace
}  // namespace presetbridge::services
