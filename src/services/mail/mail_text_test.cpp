#include "services/mail/mail_text.h"

#include <gtest/gtest.h>

#include "services/mail/mail_sender.h"

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;

TEST(MailText, HasTheLinkOfItsPurposeWithTheTokenBehindTheHash) {
  const auto reset = mail_text(MailPurpose::reset, "https://bridge.example", "abc");
  EXPECT_EQ(reset.subject, "Set a new password");
  EXPECT_TRUE(reset.text.contains("\n\nhttps://bridge.example/reset#abc\n\n")) << reset.text;
  const auto verify = mail_text(MailPurpose::verify, "https://bridge.example", "abc");
  EXPECT_TRUE(verify.text.contains("\n\nhttps://bridge.example/verify#abc\n\n")) << verify.text;
}

TEST(MailText, ASendersNameIsWrittenForAHeader) {
  const auto of = [](std::string_view name) { return mailbox(name, "a@b.example"); };
  EXPECT_EQ(of(""), "a@b.example");
  EXPECT_EQ(of("Tone Co."), "\"Tone Co.\" <a@b.example>");
  EXPECT_EQ(of("A \"B\" \\"), "\"A \\\"B\\\" \\\\\" <a@b.example>");
  EXPECT_EQ(of("Møller"), "=?UTF-8?B?TcO4bGxlcg==?= <a@b.example>");
  const std::string long_name(46, 'a');
  EXPECT_EQ(of("é" + long_name),
            "=?UTF-8?B?w6lhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh?= =?UTF-8?B?YWFh?= "
            "<a@b.example>");
  for (const std::string& bad : {std::string("a\r\nBcc: x@y"), std::string("a\nb"), std::string("a\0b", 3),
                                 std::string("\xff"), std::string(101, 'a')})
    EXPECT_FALSE(of(bad));
}

TEST(NextMailAttempt, WaitsLongerEachTimeAndIsGivenUp) {
  const Timestamp begun{1'000'000h};
  const auto after = [&](std::int64_t attempts, Millis since, Millis life) {
    return next_mail_attempt(attempts, begun + since, begun, begun + life);
  };
  EXPECT_EQ(after(1, 0ms, 24h), begun + 30s);
  EXPECT_EQ(after(2, 1min, 24h), begun + 2min);
  EXPECT_EQ(after(9, 1h, 24h), begun + 90min);
  EXPECT_EQ(after(60, 3h + 30min, 24h), begun + 4h);
  EXPECT_FALSE(after(9, 3h + 31min, 24h)) << "four hours late";
  EXPECT_FALSE(after(6, 50min, 1h)) << "the link is over before";
}

}  // namespace
}  // namespace presetbridge::services
