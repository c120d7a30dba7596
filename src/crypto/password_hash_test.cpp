#include "crypto/password_hash.h"

#include <gtest/gtest.h>

namespace presetbridge::crypto {
namespace {

constexpr PasswordCost kCheap{1, 8192};

TEST(PasswordHash, VerifiesTheSamePasswordOnly) {
  const PasswordHasher hasher(kCheap);
  const auto stored = hasher.hash("correct horse");
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->starts_with("$argon2id$v=19$m=8,t=1,p=1$"));
  EXPECT_TRUE(hasher.verify(*stored, "correct horse"));
  EXPECT_FALSE(hasher.verify(*stored, "correct horsf"));
  EXPECT_FALSE(hasher.verify(*stored, "correct hors"));
  EXPECT_FALSE(hasher.verify(*stored, ""));
  EXPECT_FALSE(hasher.verify(*stored, std::string_view()));
  EXPECT_NE(hasher.hash("correct horse"), *stored) << "salted";
}

TEST(PasswordHash, CountsEveryByteOfAPassword) {
  const PasswordHasher hasher(kCheap);
  const std::string with_zero("ab\0cd", 5);
  const auto stored = hasher.hash(with_zero);
  ASSERT_TRUE(stored);
  EXPECT_TRUE(hasher.verify(*stored, with_zero));
  EXPECT_FALSE(hasher.verify(*stored, "ab"));
  const std::string longest(kMaxPasswordBytes, 'x');
  const auto of_longest = hasher.hash(longest);
  ASSERT_TRUE(of_longest);
  EXPECT_TRUE(hasher.verify(*of_longest, longest));
  EXPECT_FALSE(hasher.verify(*of_longest, longest.substr(1)));
}

TEST(PasswordHash, RefusesATooLongPassword) {
  const PasswordHasher hasher(kCheap);
  const std::string too_long(kMaxPasswordBytes + 1, 'x');
  EXPECT_EQ(hasher.hash(too_long).error().code, "PASSWORD_TOO_LONG");
  const auto its_hash =
      "$argon2id$v=19$m=8,t=1,p=1$eKUi0izrLT2MmYb5F4GVlg$d9gX7vzVTFb3mlMfM547JkAv7IWASeOqjrmnJvR8Jh8";
  EXPECT_FALSE(hasher.needs_rehash(its_hash)) << "the probe is a hash";
  EXPECT_FALSE(hasher.verify(its_hash, too_long));
}

TEST(PasswordHash, IsDueForRehashingWhenTheCostHasChanged) {
  const auto stored = PasswordHasher(kCheap).hash("correct horse");
  ASSERT_TRUE(stored);
  EXPECT_FALSE(PasswordHasher(kCheap).needs_rehash(*stored));
  EXPECT_TRUE(PasswordHasher({2, 8192}).needs_rehash(*stored));
  EXPECT_TRUE(PasswordHasher({1, 16384}).needs_rehash(*stored));
  EXPECT_TRUE(PasswordHasher({2, 8192}).verify(*stored, "correct horse")) << "old hashes stay valid";
}

TEST(PasswordHash, TakesNoTextThatIsNoHash) {
  const PasswordHasher hasher(kCheap);
  for (const auto& stored : {std::string(), std::string("$argon2id$"), std::string("plain"),
                             std::string(10'000, '$'), std::string("$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA")}) {
    EXPECT_FALSE(hasher.verify(stored, "plain"));
    EXPECT_FALSE(hasher.verify(stored, ""));
  }
  EXPECT_TRUE(hasher.needs_rehash("plain"));
  EXPECT_TRUE(hasher.needs_rehash(std::string(10'000, '$')));
}

TEST(PasswordHash, ACostBelowTheLeastIsAnError) {
  EXPECT_EQ(PasswordHasher({0, 8192}).hash("x").error().code, "OUT_OF_MEMORY");
}

}  // namespace
}  // namespace presetbridge::crypto
