#include "simulator_parts/percent.h"

#include <gtest/gtest.h>

namespace presetbridge::simulator_parts {
namespace {

TEST(Percent, DecodesEscapesAndOnlyInFormsThePlus) {
  EXPECT_EQ(percent_decoded("a%20b%C3%a9+"), "a b\xC3\xA9+");
  EXPECT_EQ(percent_decoded("a+b", true), "a b");
  for (const auto* broken : {"%", "%2", "%zz", "a%4"}) EXPECT_FALSE(percent_decoded(broken)) << broken;
}

TEST(Percent, FindsAParameterOfAQuery) {
  EXPECT_EQ(query_value("limit=5&cursor=c%2F1", "cursor"), "c/1");
  EXPECT_EQ(query_value("limit=5", "cursor"), "");
  EXPECT_EQ(query_value("cursor=%", "cursor"), "");
  EXPECT_EQ(query_value("xcursor=1&cursor", "cursor"), "");
}

}  // namespace
}  // namespace presetbridge::simulator_parts
