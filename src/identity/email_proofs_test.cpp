#include "identity/email_proofs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "crypto/encoding.h"
#include "identity/built_in_issuer_testing.h"
#include "identity/mail_links.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::identity {
namespace {

using namespace std::chrono_literals;
using storage::MailLinkRow;
using storage::Tx;

constexpr const char* kAnn = "ann@example.com";
constexpr const char* kNext = "another long pass phrase";

class EmailProofsTest : public testing::BuiltInIssuerTest {
 protected:
  EmailProofsTest() {
    issuer_ = world_.issuer({.iss = "https://bridge.example", .mail_came = [this] { ++mails_; }});
    if (auto started = world_.await(issuer_->start(world_.scheduler)); !started) throw started.error();
    proofs_.emplace(EmailProofs::Deps{world_.async_db, *issuer_, world_.passwords, world_.ids, world_.clock(),
                                      [this] { ++mails_; }});
  }

  // The rows of the table, oldest first.
  std::vector<MailLinkRow> links() {
    static constexpr storage::Sql kIds{"SELECT id FROM mail_links ORDER BY id"};
    std::vector<MailLinkRow> rows;
    world_.db->read([&](Tx& tx) {
      rows.clear();
      std::vector<MailLinkId> ids;
      tx.query(kIds, [&](const storage::Row& r) { ids.push_back(r.id<MailLinkId>(0)); });
      for (const auto id : ids) rows.push_back(*find_mail_link(tx, id));
    });
    return rows;
  }
  MailLinkId newest() { return links().back().id; }
  LoginResult<void> ask(std::string email = kAnn, net::Caller caller = {}) {
    return world_.await(proofs_->ask_reset(world_.scheduler, std::move(caller), std::move(email)));
  }
  LoginResult<Tokens> reset(MailLinkId link, std::string next = kNext) {
    return world_.await(
        proofs_->reset(world_.scheduler, {}, link, std::move(next), {.network = "192.0.2.7"}));
  }
  LoginResult<void> ask_verification(const Tokens& of) {
    return world_.await(proofs_->ask_verification(world_.scheduler, person(of)));
  }
  Expected<void> verify_email(MailLinkId link) {
    return world_.await(proofs_->verify(world_.scheduler, link));
  }
  bool is_verified(const Tokens& of, std::string_view email = kAnn) {
    bool verified = false;
    world_.db->read([&](Tx& tx) { verified = is_verified_email(tx, of.user, hash_of_email(email)); });
    return verified;
  }
  template <class T>
  static std::string code(const T& result) {
    return result ? "" : result.error().code;
  }
  std::string audited(const Tokens& of) {
    std::string actions;
    world_.db->read([&](Tx& tx) {
      for (const auto& row : list_audit(tx, of.account, {}, {}).rows) actions += row.action + " ";
    });
    return actions;
  }

  int mails_ = 0;
  std::optional<EmailProofs> proofs_;
};

TEST_F(EmailProofsTest, ALinkSetsANewPasswordOnceAndEndsAllSessions) {
  const auto ann = sign_up(kAnn);
  ASSERT_TRUE(ann);
  mails_ = 0;
  ASSERT_TRUE(ask("  Ann@Example.COM "));
  EXPECT_EQ(mails_, 1);
  const auto link = links().back();
  EXPECT_EQ(link.user, ann->user);
  EXPECT_EQ(link.purpose, MailPurpose::reset);
  EXPECT_TRUE(link.due_at);
  EXPECT_EQ(code(reset(link.id, "short")), "VALIDATION_FAILED") << "which uses nothing up";
  const auto in = reset(link.id);
  ASSERT_TRUE(in) << in.error().message;
  EXPECT_EQ(in->user, ann->user);
  EXPECT_EQ(code(reset(link.id)), "LINK_INVALID");
  EXPECT_EQ(code(refresh(ann->refresh_token)), "UNAUTHORIZED");
  EXPECT_TRUE(refresh(in->refresh_token));
  EXPECT_EQ(code(sign_in(kAnn)), "INVALID_CREDENTIALS");
  EXPECT_TRUE(sign_in(kAnn, kNext));
  EXPECT_TRUE(is_verified(*ann));
  EXPECT_TRUE(audited(*ann).contains("password.reset ")) << audited(*ann);
}

TEST_F(EmailProofsTest, TwoUsesAtOnceSetOnePassword) {
  ASSERT_TRUE(sign_up(kAnn));
  ask();
  std::vector<std::string> ended;
  for (const auto* next : {"the first long one", "the second long one"})
    spawn(proofs_->reset(world_.scheduler, {}, newest(), next),
          [&](Outcome<LoginResult<Tokens>> outcome) { ended.push_back(code(*outcome.value)); });
  world_.scheduler.run();
  std::ranges::sort(ended);
  EXPECT_EQ(ended, (std::vector<std::string>{"", "LINK_INVALID"}));
}

TEST_F(EmailProofsTest, ALinkWorksForAnHourAndUntilOneIsUsed) {
  ASSERT_TRUE(sign_up(kAnn));
  ask();
  const auto first = newest();
  ask();  // a stranger did
  const auto second = newest();
  world_.clock().advance(1h - 1ms);
  EXPECT_TRUE(reset(first));
  EXPECT_EQ(code(reset(second)), "LINK_INVALID") << "the password is a new one";
  world_.clock().advance(1h);
  ask();
  world_.clock().advance(1h);
  EXPECT_EQ(code(reset(newest())), "LINK_INVALID");
}

TEST_F(EmailProofsTest, AnUnknownAddressCostsWhatAKnownOneCostsAndGetsNoMail) {
  ASSERT_TRUE(sign_up(kAnn));
  const auto before = links().size();
  for (const auto* email : {kAnn, "nobody@example.com"}) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ask(email)) << "the answer does not change";
  }
  const auto all = links();
  ASSERT_EQ(all.size(), before + 6) << "three an hour each";
  for (std::size_t i = before; i < all.size(); ++i) {
    const bool known = all[i].email_hash == hash_of_email(kAnn);
    EXPECT_EQ(all[i].due_at.has_value(), known);
    EXPECT_EQ(all[i].user.value != 0, known);
    EXPECT_EQ(all[i].purpose, MailPurpose::reset);
  }
  EXPECT_EQ(code(reset(all.back().id)), "LINK_INVALID");
  world_.clock().advance(1h);
  ask();
  EXPECT_EQ(links().size(), before + 7) << "an hour later there are three again";
}

TEST_F(EmailProofsTest, ANetworkMayAskTwentyTimesAnHour) {
  const net::Caller stranger{"192.0.2.1", false};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ask(std::to_string(i) + "@example.com", stranger));
  const auto refused = ask("x@example.com", stranger);
  EXPECT_EQ(code(refused), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(refused.error().retry_after, 3min);
  EXPECT_EQ(links().size(), 20u) << "nothing is written then";
  EXPECT_TRUE(ask("x@example.com", {"192.0.2.2", false}));
}

TEST_F(EmailProofsTest, ALinkOfAFormerAddressDoesNothing) {
  const auto ann = sign_up(kAnn);
  const auto verification = newest();
  ask();
  const auto reset_link = newest();
  ASSERT_TRUE(change_email(*ann, "moved@example.com"));
  EXPECT_EQ(code(verify_email(verification)), "LINK_INVALID");
  EXPECT_EQ(code(reset(reset_link)), "LINK_INVALID");
  ASSERT_TRUE(verify_email(newest())) << "the new address got its own";
  EXPECT_TRUE(is_verified(*ann, "moved@example.com"));
  EXPECT_FALSE(is_verified(*ann));
  EXPECT_TRUE(audited(*ann).contains("email.verified ")) << audited(*ann);
}

TEST_F(EmailProofsTest, ALinkIsForItsPurposeAlone) {
  ASSERT_TRUE(sign_up(kAnn));
  const auto verification = newest();
  ask();
  EXPECT_EQ(code(reset(verification)), "LINK_INVALID");
  EXPECT_EQ(code(verify_email(newest())), "LINK_INVALID");
  EXPECT_EQ(code(verify_email(MailLinkId{1})), "LINK_INVALID");
  EXPECT_TRUE(verify_email(verification));
  EXPECT_EQ(code(verify_email(verification)), "LINK_INVALID") << "once";
}

TEST_F(EmailProofsTest, TokensSayWhetherTheAddressIsConfirmed) {
  const auto ann = sign_up(kAnn);
  const auto claims = [](const Tokens& tokens) {
    const auto& token = tokens.id_token;
    const auto begin = token.find('.') + 1;
    const auto bytes = crypto::base64url_decode(token.substr(begin, token.rfind('.') - begin));
    return std::string(crypto::text_of(*bytes));
  };
  EXPECT_TRUE(claims(*ann).contains("\"email_verified\":false")) << claims(*ann);
  ASSERT_TRUE(verify_email(newest()));
  const auto fresh = refresh(ann->refresh_token);
  EXPECT_TRUE(claims(*fresh).contains("\"email_verified\":true")) << claims(*fresh);
}

TEST_F(EmailProofsTest, AVerificationIsSentAgainThreeTimesAnHour) {
  const auto ann = sign_up(kAnn);
  EXPECT_TRUE(ask_verification(*ann));
  EXPECT_TRUE(ask_verification(*ann));
  const auto refused = ask_verification(*ann);
  EXPECT_EQ(code(refused), "RATE_LIMIT_EXCEEDED") << "that of the sign-up counts too";
  EXPECT_EQ(refused.error().retry_after, 1h);
  ASSERT_TRUE(verify_email(newest()));
  EXPECT_EQ(code(ask_verification(*ann)), "CONFLICT");
  auto elsewhere = person(*ann);
  elsewhere.person->iss = "https://other.example";
  EXPECT_EQ(code(world_.await(proofs_->ask_verification(world_.scheduler, elsewhere))), "FORBIDDEN");
}

TEST_F(EmailProofsTest, WithoutMailNothingIsWritten) {
  issuer_ = world_.issuer();
  ASSERT_TRUE(world_.await(issuer_->start(world_.scheduler)));
  const auto ann = sign_up(kAnn);
  ASSERT_TRUE(change_email(*ann, "moved@example.com"));
  EXPECT_TRUE(links().empty());
}

}  // namespace
}  // namespace presetbridge::identity
