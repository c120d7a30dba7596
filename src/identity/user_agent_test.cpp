#include "identity/user_agent.h"

#include <gtest/gtest.h>

#include <string>

namespace presetbridge::identity {
namespace {

TEST(UserAgent, ABrowserIsNamedWithItsSystem) {
  EXPECT_EQ(summary_of_user_agent("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
            "Firefox on Linux");
  EXPECT_EQ(summary_of_user_agent("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like "
                                  "Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0"),
            "Edge on Windows");
  EXPECT_EQ(summary_of_user_agent("Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) "
                                  "Chrome/126.0 Mobile Safari/537.36"),
            "Chrome on Android");
  EXPECT_EQ(summary_of_user_agent("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1 "
                                  "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"),
            "Safari on iOS");
}

TEST(UserAgent, AProgramIsItsFirstProductAndHostileTextNothing) {
  EXPECT_EQ(summary_of_user_agent("curl/8.1.2"), "curl");
  EXPECT_EQ(summary_of_user_agent("node"), "node");
  EXPECT_EQ(summary_of_user_agent(""), "");
  EXPECT_EQ(summary_of_user_agent("Mozilla/5.0"), "");
  EXPECT_EQ(summary_of_user_agent("<script>alert(1)</script>"), "");
  EXPECT_EQ(summary_of_user_agent("\xff\xfe\x01"), "");
  EXPECT_EQ(summary_of_user_agent(std::string(5'000, 'x')), std::string(40, 'x'));
  EXPECT_LE(summary_of_user_agent(std::string(5'000, 'x') + " Android CrOS").size(), 80U);
}

}  // namespace
}  // namespace presetbridge::identity
