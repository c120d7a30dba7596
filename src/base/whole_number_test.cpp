#include "base/whole_number.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace presetbridge {
namespace {

TEST(WholeNumber, IsReadExactlyInEveryNotation) {
  const std::vector<std::pair<std::string, std::string>> known = {
      {"0", "0"},
      {"-0", "0"},
      {"0.0e5", "0"},
      {"278", "278"},
      {"278.0", "278"},
      {"278.000", "278"},
      {"2.78e2", "278"},
      {"2.78E+2", "278"},
      {"27800e-2", "278"},
      {"-2.0", "-2"},
      {"1e3", "1000"},
      {"100", "100"},
      {"0.001e3", "1"},
      {"9007199254740993.0", "9007199254740993"},
      {"18446744073709551615.0", "18446744073709551615"},
      {"9.223372036854775807e18", "9223372036854775807"},
      {"0e999999999999999999999999", "0"}};
  for (const auto& [text, digits] : known) EXPECT_EQ(whole_number(text, 30), digits) << text;
}

TEST(WholeNumber, IsNoneWithAFraction) {
  for (const auto* text : {"0.5", "278.1", "278.00000000000000000000000000000000000001", "1e-1", "2.789e2",
                           "1e-999999999999999999999999"}) {
    EXPECT_EQ(whole_number(text, 30), std::nullopt) << text;
  }
}

TEST(WholeNumber, HasALimitOfDigits) {
  EXPECT_EQ(whole_number("123", 3), "123");
  EXPECT_EQ(whole_number("-123.0", 3), "-123");
  EXPECT_EQ(whole_number("1234", 3), std::nullopt);
  EXPECT_EQ(whole_number("1e2", 3), "100");
  EXPECT_EQ(whole_number("1e3", 3), std::nullopt);
  EXPECT_EQ(whole_number("000123", 3), "123");
  EXPECT_EQ(whole_number("1e999999999999999999999999", 1'000'000), std::nullopt);
}

TEST(WholeNumber, HasNoOtherForm) {
  for (const auto* text : {"", "-", ".5", "1.", "1.e2", "1e", "1e+", "+1", " 1", "1 ", "0x10", "1,0", "--1",
                           "1e2.0", "NaN", "1.0.0"}) {
    EXPECT_EQ(whole_number(text, 30), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace presetbridge
