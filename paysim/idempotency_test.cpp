#include "idempotency.h"

#include <gtest/gtest.h>

namespace presetbridge::paysim {
namespace {

const Timestamp start = from_unix_ms(1'790'000'000'000);

IdempotencyKeys::Answer answer(std::string body, Timestamp at = start) {
  return {crypto::sha256("request"), 200, std::move(body), at};
}

TEST(IdempotencyKeys, LiveForADay) {
  IdempotencyKeys keys;
  keys.keep("a", answer("1"));
  keys.keep("b", answer("2", start + Millis{1}));
  const auto last = start + std::chrono::hours{24} - Millis{1};
  ASSERT_TRUE(keys.find("a", last));
  EXPECT_EQ(keys.find("a", last)->body, "1");
  EXPECT_FALSE(keys.find("c", last));
  EXPECT_FALSE(keys.find("a", last + Millis{1}));
  EXPECT_TRUE(keys.find("b", last + Millis{1}));
}

TEST(IdempotencyKeys, TheOldestGivesWay) {
  IdempotencyKeys keys(3, 100);
  for (const auto* key : {"a", "b", "c", "d"}) keys.keep(key, answer("x"));
  EXPECT_FALSE(keys.find("a", start));
  EXPECT_TRUE(keys.find("b", start));
  keys.keep("e", answer(std::string(99, 'x')));
  EXPECT_FALSE(keys.find("c", start));
  EXPECT_TRUE(keys.find("d", start));
  EXPECT_TRUE(keys.find("e", start));
}

TEST(IdempotencyKeys, TheFirstAnswerStays) {
  IdempotencyKeys keys;
  keys.keep("a", answer("1"));
  keys.keep("a", answer("2"));
  EXPECT_EQ(keys.find("a", start)->body, "1");
}

}  // namespace
}  // namespace presetbridge::paysim
