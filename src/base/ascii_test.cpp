#include "base/ascii.h"

#include <gtest/gtest.h>

namespace presetbridge {
namespace {

constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

TEST(Ascii, OnlyItsCapitalsHaveALowerCase) {
  EXPECT_EQ(lowered(kUpper), kLower);
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    if (!kUpper.contains(c)) EXPECT_EQ(to_lower(c), c) << byte;
  }
  EXPECT_EQ(lowered("Ärger_[1]"), "Ärger_[1]");
  EXPECT_EQ(lowered(""), "");
}

TEST(Ascii, TextsAreEqualWithoutTheCaseOfItsLetters) {
  EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-TYPE"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
  EXPECT_FALSE(equal_ignoring_case("Content", "Content-Type"));
  EXPECT_FALSE(equal_ignoring_case("@[", "`{"));
  EXPECT_FALSE(equal_ignoring_case("Ä", "ä"));
}

TEST(Ascii, OnlyItsLettersAndDigitsAreAlphanumeric) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    EXPECT_EQ(is_alphanumeric(c), kUpper.contains(c) || kLower.contains(c) || kDigits.contains(c)) << byte;
  }
}

}  // namespace
}  // namespace presetbridge
