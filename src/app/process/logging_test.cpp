#include "app/process/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/testing.h"

namespace presetbridge::app {
namespace {

constexpr Timestamp kAt = from_unix_ms(1'790'000'000'123);

TEST(LogLine, IsAnObjectOfTimeLevelMessageAndFields) {
  EXPECT_EQ(
      log_line(kAt, Severity::warn, "a job failed", {{"delivery", "del_1"}, {"tries", std::int64_t{-3}}}),
      R"({"time":"2026-09-21T14:13:20.123Z","level":"warn","message":"a job failed","delivery":"del_1","tries":-3})");
}

TEST(LogLine, NothingFromOutsideEndsALineOrATextOrSteersATerminal) {
  const std::string hostile = "a\"b\\c\nd\r\te\x1b[31m\x7f\xc2\x9b\xe2\x80\xa8z";
  const auto line = log_line(kAt, Severity::info, hostile, {{"field", hostile}});
  for (const char c : line) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
  const auto parsed = boost::json::parse(line).as_object();
  EXPECT_EQ(parsed.at("message").as_string(), hostile);
  EXPECT_EQ(parsed.at("field").as_string(), hostile);
}

TEST(LogLine, WhatIsNotUtf8IsReplaced) {
  using namespace std::string_literals;
  for (const auto& bytes :
       {"\xff"s, "\xc3"s, "\xe2\x80"s, "\xed\xa0\x80"s, "\xf5\x80\x80\x80"s, "\xc0\xaf"s}) {
    const auto line = log_line(kAt, Severity::info, "x" + bytes + "y", {});
    const auto message = std::string(boost::json::parse(line).as_object().at("message").as_string());
    EXPECT_THAT(message, ::testing::StartsWith("x\xef\xbf\xbd"));
    EXPECT_THAT(message, ::testing::EndsWith("y"));
  }
  const auto zero = log_line(kAt, Severity::info, "a\0b"s, {});
  EXPECT_THAT(zero, ::testing::HasSubstr("a\\u0000b"));
}

TEST(LogLine, ALongTextIsCutAndStaysJson) {
  std::string text = "x";
  for (int i = 0; i < 100'000; ++i) text += "é";  // the cut falls into the middle of one
  const auto line = log_line(kAt, Severity::info, text, {});
  EXPECT_LT(line.size(), 5'000U);
  EXPECT_THAT(std::string(boost::json::parse(line).as_object().at("message").as_string()),
              ::testing::EndsWith("…"));
}

TEST(JsonLog, WritesWhatIsSevereEnoughBeforeWhileAndAfterItHasAThread) {
  const presetbridge::testing::ManualClock clock(kAt);
  ::testing::internal::CaptureStderr();
  {
    JsonLog log(clock, Severity::info);
    log.info("first");
    log.debug("never");
    log.start_thread();
    for (int i = 0; i < 100; ++i) log.error("second");
    log.stop_thread();
    log.warn("third");
  }
  const auto text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(text, '\n'), 102);
  EXPECT_THAT(text,
              ::testing::StartsWith(
                  "{\"time\":\"2026-09-21T14:13:20.123Z\",\"level\":\"info\",\"message\":\"first\"}\n"));
  EXPECT_THAT(text, ::testing::EndsWith("\"message\":\"third\"}\n"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("never")));
}

// Thousands of them, so that they reach the thread in several parts.
TEST(JsonLog, ManyLinesWithOneMessageAreTheLinesThatTheyAreOneByOne) {
  const presetbridge::testing::ManualClock clock(kAt);
  const std::vector<std::string> texts = {"plain",         "",         "a \"quoted\" \\ one", "a\nline",
                                          "zwölf Bytes …", "eight ok", "12345678\x7f",        "\xff"};
  std::vector<LogField> flat;
  std::string expected;
  for (std::int64_t i = 0; i < 4'000; ++i) {
    const auto& text = texts[static_cast<std::size_t>(i) % texts.size()];
    flat.insert(flat.end(), {{"text", text}, {"number", i}});
    expected += log_line(kAt, Severity::info, "many", {{"text", text}, {"number", i}}) + "\n";
  }
  ::testing::internal::CaptureStderr();
  {
    JsonLog log(clock, Severity::info);
    log.start_thread();
    log.write_each(Severity::info, "many", 2, flat);
    log.write_each(Severity::debug, "never", 2, flat);
    log.write_each(Severity::info, "none", 2, {});
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), expected);
}

TEST(ParseSeverity, KnowsFourWords) {
  EXPECT_EQ(parse_severity("debug"), Severity::debug);
  EXPECT_EQ(parse_severity("error"), Severity::error);
  EXPECT_EQ(parse_severity("loud"), Severity::info);
}

}  // namespace
}  // namespace presetbridge::app
