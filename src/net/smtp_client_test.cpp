#include "net/smtp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "net/loopback_testing.h"
#include "net/runtime.h"

namespace presetbridge::net {
namespace {

using Kind = MailFailure::Kind;
using ::testing::HasSubstr;
using testing::TestSocket;

TEST(SmtpUrl, NamesAServerAndNothingElse) {
  EXPECT_EQ(parse_smtp_url("smtp://mail.example")->url, "smtp://mail.example:587");
  EXPECT_EQ(parse_smtp_url("smtps://mail.example")->url, "smtps://mail.example:465");
  EXPECT_EQ(parse_smtp_url("smtp://mail.example:25")->url, "smtp://mail.example:25");
  EXPECT_FALSE(parse_smtp_url("smtp://mail.example")->loopback);
  for (const auto* here : {"smtp://127.0.0.1:25", "smtp://[::1]:25", "smtp://localhost"})
    EXPECT_TRUE(parse_smtp_url(here)->loopback) << here;
  for (const auto* bad : {"", "mail.example", "http://mail.example", "smtp://", "smtp://u:p@mail.example",
                          "smtp://u@mail.example", "smtp://mail.example/path", "smtp://mail.example?x",
                          "smtp://mail.example#x", "smtp://mail.example:99999", "smtp://mail.example\r\nX"})
    EXPECT_FALSE(parse_smtp_url(bad)) << bad;
}

TEST(MailAddress, IsOneThatAHeaderCanHold) {
  for (const auto* good : {"a@b", "ann.o'neil+x@mail.example", "jürgen@exämple.de"})
    EXPECT_TRUE(is_mail_address(good)) << good;
  for (const std::string& bad :
       {std::string("a"), std::string("@b"), std::string("a@"), std::string("a@b@c"), std::string("a b@c"),
        std::string("a@b\r\nBcc: x@y"), std::string("a@b\n"), std::string("<a@b>"), std::string("a@b>,c"),
        std::string("a\0@b", 4), std::string("\xff@b"), std::string("\"a\"@b"), "a@" + std::string(253, 'b')})
    EXPECT_FALSE(is_mail_address(bad)) << bad;
}

// A server that speaks from a script: to each line that begins so, the reply.
class ScriptedServer {
 public:
  using Script = std::vector<std::pair<std::string, std::string>>;
  explicit ScriptedServer(Script script) : listener_(TestSocket::unconnected()), script_(std::move(script)) {
    const auto any = TestSocket::loopback(0);
    ::bind(listener_.descriptor(), reinterpret_cast<const sockaddr*>(&any), sizeof any);
    ::listen(listener_.descriptor(), 4);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    ::getsockname(listener_.descriptor(), reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = ntohs(bound.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    ::shutdown(listener_.descriptor(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  void wait_for_client() { connected_.get_future().wait(); }
  std::string url() const { return "smtp://127.0.0.1:" + std::to_string(port_); }
  // All that the client said; once it has hung up.
  std::string heard() {
    thread_.join();
    return heard_;
  }

 private:
  void serve() {
    const int fd = ::accept(listener_.descriptor(), nullptr, nullptr);
    if (fd < 0) return;
    connected_.set_value();
    const TestSocket client(fd);
    client.send("220 mail.test\r\n");
    std::string line;
    bool data = false;
    for (std::string some; !(some = client.read_some()).empty();) {
      heard_ += some;
      line += some;
      for (auto end = line.find("\r\n"); end != std::string::npos; end = line.find("\r\n")) {
        const auto one = line.substr(0, end);
        line.erase(0, end + 2);
        if (data && one != ".") continue;
        const auto asked = data ? std::string(".") : one;
        data = false;
        for (const auto& [begin, reply] : script_) {
          if (!asked.starts_with(begin)) continue;
          data = reply.starts_with("354");
          client.send(reply + "\r\n");
          break;
        }
      }
    }
  }

  TestSocket listener_;
  const Script script_;
  std::uint16_t port_ = 0;
  std::string heard_;
  std::promise<void> connected_;
  std::thread thread_;
};

const ScriptedServer::Script kTakes{{"EHLO", "250 mail.test"}, {"MAIL", "250 ok"}, {"RCPT", "250 ok"},
                                    {"DATA", "354 go"},        {".", "250 taken"}, {"QUIT", "221 bye"}};

class SmtpClientTest : public ::testing::Test {
 protected:
  SmtpClientTest() { runtime_.start(); }
  ~SmtpClientTest() override { runtime_.stop(); }

  static OutgoingMail mail() {
    return {.to = "ann@example.com",
            .subject = "Set a new password",
            .text = "Grüße,\n\n.a line that begins with a dot\n" + std::string(200, 'x') + "\n",
            .message_id = "mal_1",
            .date = from_unix_ms(1'790'000'000'000)};
  }
  SmtpOptions options(const std::string& url, Millis deadline = Millis{5'000}) {
    return {.server = *parse_smtp_url(url),
            .user = {},
            .password = {},
            .from = "bridge@mail.example",
            .from_header = "\"Bridge\" <bridge@mail.example>",
            .ca_file = {},
            .deadline = deadline,
            .reply = std::chrono::seconds{1}};
  }
  MailResult send(SmtpClient& client, OutgoingMail what = mail()) {
    auto ended = begin(client, std::move(what));
    return ended->get_future().get();
  }
  std::shared_ptr<std::promise<MailResult>> begin(SmtpClient& client, OutgoingMail what) {
    auto ended = std::make_shared<std::promise<MailResult>>();
    auto& core = runtime_.scheduler(0);
    core.post([&client, &core, ended, what = std::move(what)]() mutable {
      spawn(client.send(core, std::move(what)),
            [ended](Outcome<MailResult> outcome) { ended->set_value(std::move(*outcome.value)); });
    });
    return ended;
  }

  Runtime runtime_{1};
};

TEST_F(SmtpClientTest, AMailIsOneOfAsciiLinesThatNoTextBreaks) {
  ScriptedServer server(kTakes);
  SmtpClient client(options(server.url()));
  const auto failure = send(client);
  EXPECT_FALSE(failure) << failure->message;
  const auto heard = server.heard();
  for (const auto* part : {"MAIL FROM:<bridge@mail.example>", "RCPT TO:<ann@example.com>\r\n",
                           "From: \"Bridge\" <bridge@mail.example>\r\n", "To: ann@example.com\r\n",
                           "Subject: Set a new password\r\n", "Date: Mon, 21 Sep 2026 14:13:20 +0000\r\n",
                           "Message-ID: <mal_1@mail.example>\r\n", "Auto-Submitted: auto-generated\r\n",
                           "Content-Type: text/plain; charset=utf-8\r\n", "Gr=C3=BC=C3=9Fe,\r\n",
                           "\r\n..a line that begins with a dot\r\n", "QUIT"})
    EXPECT_TRUE(heard.contains(part)) << part << " is not in:\n" << heard;
  std::size_t longest = 0;
  for (std::size_t at = 0; at < heard.size();) {
    const auto end = std::min(heard.find("\r\n", at), heard.size());
    longest = std::max(longest, end - at);
    at = end + 2;
  }
  EXPECT_LE(longest, 100u);
}

TEST_F(SmtpClientTest, WhatWouldAlterTheEnvelopeOrAHeaderIsNotSent) {
  SmtpClient client(options("smtp://127.0.0.1:1"));
  for (const auto& spoil : std::vector<std::function<void(OutgoingMail&)>>{
           [](OutgoingMail& m) { m.to = "a@b.example\r\nRCPT TO:<x@y.example>"; },
           [](OutgoingMail& m) { m.subject = "a\r\nBcc: x@y.example"; },
           [](OutgoingMail& m) { m.subject = "Grüße"; },
           [](OutgoingMail& m) { m.message_id = "a>\r\nX: y"; },
           [](OutgoingMail& m) { m.text = std::string(kLongestMailText + 1, 'a'); },
       }) {
    auto bad = mail();
    spoil(bad);
    EXPECT_EQ(send(client, bad)->kind, Kind::invalid);
  }
}

TEST_F(SmtpClientTest, AnAddressThatIsRefusedForGoodIsNoTroubleThatPasses) {
  for (const auto& [reply, kind] :
       {std::pair{"550 no such mailbox", Kind::refused}, std::pair{"450 later", Kind::unavailable}}) {
    ScriptedServer server(
        {{"EHLO", "250 mail.test"}, {"MAIL", "250 ok"}, {"RCPT", reply}, {"QUIT", "221 bye"}});
    SmtpClient client(options(server.url()));
    const auto failure = send(client);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind, kind) << failure->message;
    EXPECT_FALSE(failure->message.contains("ann@example.com"));
  }
  SmtpClient nowhere(options("smtp://127.0.0.1:1"));
  EXPECT_EQ(send(nowhere)->kind, Kind::unavailable);
}

TEST_F(SmtpClientTest, ASenderThatIsRefusedIsATroubleThatPasses) {
  ScriptedServer server({{"EHLO", "250 mail.test"}, {"MAIL", "550 not your address"}, {"QUIT", "221 bye"}});
  SmtpClient client(options(server.url()));
  const auto failure = send(client);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Kind::unavailable) << failure->message;
}

TEST_F(SmtpClientTest, AReplyIsAwaitedForItsTimeAndNoLonger) {
  ScriptedServer silent(
      {{"EHLO", "250 mail.test"}, {"MAIL", "250 ok"}, {"RCPT", "250 ok"}, {"DATA", "354 go"}});
  SmtpClient client(options(silent.url(), Millis{60'000}));
  const auto failure = send(client);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("response timeout"));  // not the mail's deadline
  EXPECT_GE(SmtpOptions{}.reply, std::chrono::minutes{1});
}

TEST_F(SmtpClientTest, AServerThatIsSilentIsGivenUpAtTheDeadlineOrAtShutdown) {
  ScriptedServer silent({});
  SmtpClient client(options(silent.url(), Millis{300}));
  EXPECT_EQ(send(client)->kind, Kind::unavailable);
  ScriptedServer other({});
  SmtpClient stopped(options(other.url(), Millis{60'000}));
  auto under_way = begin(stopped, mail());
  other.wait_for_client();
  stopped.stop();
  EXPECT_EQ(under_way->get_future().get()->kind, Kind::aborted);
  EXPECT_EQ(send(stopped)->kind, Kind::aborted);
}

}  // namespace
}  // namespace presetbridge::net
