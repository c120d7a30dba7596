#include "services/mail/mail_sender.h"

#include <gtest/gtest.h>

#include "identity/email_proofs.h"
#include "identity/mail_links.h"
#include "identity/testing.h"
#include "services/mail/mail_tokens.h"

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;
using Kind = net::MailFailure::Kind;
using storage::Tx;

// Takes mails, or answers with a failure.
class FakeTransport final : public net::MailTransport {
 public:
  Task<net::MailResult> send(Executor&, net::OutgoingMail mail) override {
    ++attempts;
    if (before) before();
    if (failure) co_return net::MailFailure{*failure, "the server says no"};
    mails.push_back(std::move(mail));
    co_return std::nullopt;
  }
  std::optional<Kind> failure;
  std::function<void()> before;
  int attempts = 0;
  std::vector<net::OutgoingMail> mails;
};

class MailSenderTest : public ::testing::Test {
 protected:
  MailSenderTest() {
    issuer_ = world_.issuer({.iss = "https://bridge.example", .mail_came = [] {}});
    EXPECT_TRUE(world_.await(issuer_->start(world_.scheduler)));
    EXPECT_TRUE(world_.await(keys_.start(world_.scheduler)));
    start();
  }
  ~MailSenderTest() override { stop(); }
  void start() {
    sender_.emplace(
        MailSender::Ports{world_.scheduler, world_.async_db, tokens_, transport_, world_.log, metrics_},
        "https://bridge.example");
    sender_->start();
  }
  void stop() {
    if (!sender_) return;
    bool stopped = false;
    sender_->stop([&] { stopped = true; });
    world_.scheduler.run();
    EXPECT_TRUE(stopped);
    sender_.reset();
  }
  identity::Tokens sign_up(std::string email = "ann@example.com") {
    std::optional<identity::LoginResult<identity::Tokens>> done;
    spawn(issuer_->sign_up(world_.scheduler, {}, std::move(email), "correct horse battery", ""),
          [&](Outcome<identity::LoginResult<identity::Tokens>> outcome) { done = std::move(outcome.value); });
    world_.scheduler.run();
    return **done;
  }
  // The token in the newest mail.
  std::string token() const {
    const auto& text = transport_.mails.back().text;
    const auto begin = text.find('#') + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  std::string find(const std::string& text, MailPurpose purpose = MailPurpose::verify) {
    std::optional<Expected<MailLinkId>> found;
    spawn(tokens_.find(world_.scheduler, text, purpose),
          [&](Outcome<Expected<MailLinkId>> outcome) { found = std::move(outcome.value); });
    world_.scheduler.run();
    return *found ? to_string(**found) : found->error().code;
  }
  void pass(Millis time) { world_.scheduler.advance(time); }

  identity::testing::World world_;
  presetbridge::testing::CountingMetrics metrics_;
  LinkKeys keys_{world_.async_db, world_.cipher, world_.ids, world_.random};
  MailTokens tokens_{world_.async_db, keys_};
  FakeTransport transport_;
  std::unique_ptr<identity::BuiltInIssuer> issuer_;
  std::optional<MailSender> sender_;
};

TEST_F(MailSenderTest, ASignUpIsMailedALinkThatNamesItsRow) {
  sign_up();
  pass(6s);
  ASSERT_EQ(transport_.mails.size(), 1u);
  const auto& mail = transport_.mails.front();
  EXPECT_EQ(mail.to, "ann@example.com");
  EXPECT_EQ(mail.subject, "Confirm your e-mail address");
  EXPECT_EQ(find(token()), mail.message_id);
  EXPECT_EQ(find(token(), MailPurpose::reset), "LINK_INVALID") << "each purpose has its own key";
  auto forged = token();
  forged.back() = forged.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(find(forged), "LINK_INVALID");
  EXPECT_EQ(find(""), "LINK_INVALID");
  EXPECT_EQ(find(std::string(1'000, 'A')), "LINK_INVALID");
  pass(1h);
  EXPECT_EQ(transport_.attempts, 1);
  EXPECT_FALSE(world_.log.text.contains("ann@example.com"));
}

TEST_F(MailSenderTest, ALinkOutlivesARotationOfItsKey) {
  sign_up();
  pass(6s);
  const auto before = token();
  bool added = false;
  spawn(keys_.add_key(world_.scheduler),
        [&](Outcome<Expected<bool>> outcome) { added = outcome.value && **outcome.value; });
  world_.scheduler.run();
  EXPECT_TRUE(added);
  EXPECT_EQ(find(before), transport_.mails.front().message_id);
}

TEST_F(MailSenderTest, AMailWaitsUntilTheServerIsBack) {
  transport_.failure = Kind::unavailable;
  sign_up();
  pass(10min);
  EXPECT_TRUE(transport_.attempts >= 4 && transport_.attempts <= 6) << transport_.attempts;
  EXPECT_TRUE(world_.log.text.contains("a mail could not be sent, and is sent later"));
  transport_.failure.reset();
  pass(10min);
  EXPECT_EQ(transport_.mails.size(), 1u);
}

TEST_F(MailSenderTest, AMailIsGivenUpAfterFourHours) {
  transport_.failure = Kind::unavailable;
  sign_up();
  pass(5h);
  const auto attempts = transport_.attempts;
  EXPECT_TRUE(attempts > 8 && attempts < 20) << attempts;
  EXPECT_TRUE(world_.log.text.contains("a mail was given up"));
  transport_.failure.reset();
  pass(24h);
  EXPECT_EQ(transport_.attempts, attempts);
}

TEST_F(MailSenderTest, AMailThatIsRefusedForGoodIsGivenUpAtOnce) {
  for (const auto kind : {Kind::refused, Kind::invalid}) {
    transport_.failure = kind;
    transport_.attempts = 0;
    sign_up(kind == Kind::refused ? "ann@example.com" : "bob@example.com");
    pass(2h);
    EXPECT_EQ(transport_.attempts, 1);
  }
}

TEST_F(MailSenderTest, AMailWhoseProcessDiedIsSentByAnother) {
  stop();
  sign_up();
  world_.db->write([](Tx& tx) { claim_due_mail(tx, tx.now() + 2min); });  // and no more was heard of it
  start();
  pass(1min);
  EXPECT_EQ(transport_.attempts, 0);
  pass(2min);
  EXPECT_EQ(transport_.mails.size(), 1u);
}

TEST_F(MailSenderTest, AMailThatAShutdownCutOffIsDueAtOnce) {
  transport_.failure = Kind::aborted;
  transport_.before = [this] { sender_->stop([] {}); };
  sign_up();
  pass(6s);
  sender_.reset();
  EXPECT_EQ(transport_.attempts, 1);
  transport_.failure.reset();
  transport_.before = {};
  start();
  pass(6s);
  EXPECT_EQ(transport_.mails.size(), 1u);
}

TEST_F(MailSenderTest, NobodyIsMailedAtAFormerAddress) {
  transport_.failure = Kind::unavailable;
  const auto ann = sign_up();
  pass(6s);
  world_.db->write([&](Tx& tx) { set_user_email(tx, ann.user, "moved@example.com"); });
  transport_.failure.reset();
  pass(1h);
  EXPECT_TRUE(transport_.mails.empty());
}

}  // namespace
}  // namespace presetbridge::services
