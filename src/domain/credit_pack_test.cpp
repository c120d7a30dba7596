#include "domain/credit_pack.h"

#include <gtest/gtest.h>

#include <string>

namespace presetbridge::domain {
namespace {

TEST(CreditPack, IsReadFromOneLine) {
  const auto pack = parse_credit_pack("small_1 100 1900 eur 100 credits");
  ASSERT_TRUE(pack);
  EXPECT_EQ(*pack,
            (CreditPack{
                .id = "small_1", .name = "100 credits", .credits = 100, .amount = 1900, .currency = "eur"}));
}

TEST(CreditPack, WhatIsNoneIsRefusedWithTheReason) {
  const std::string longest(100, 'n');
  EXPECT_TRUE(parse_credit_pack("a 1 1 eur " + longest));
  for (const auto& text : {
           std::string(),
           std::string("small"),
           std::string("small 1 1 eur"),
           std::string("small 1 1 eur "),
           std::string("Small 1 1 eur n"),
           std::string(" 1 1 eur n"),
           std::string("small 0 1 eur n"),
           std::string("small -1 1 eur n"),
           std::string("small 1.5 1 eur n"),
           std::string("small 1000001 1 eur n"),
           std::string("small 1 0 eur n"),
           std::string("small 1 100000000 eur n"),
           std::string("small 1 +1 eur n"),
           std::string("small 1 1 EUR n"),
           std::string("small 1 1 euro n"),
           std::string("small 1 1 eur \x01"),
           "small 1 1 eur n" + longest,
           std::string(41, 'a') + " 1 1 eur n",
       })
    EXPECT_FALSE(parse_credit_pack(text)) << text;
}

}  // namespace
}  // namespace presetbridge::domain
