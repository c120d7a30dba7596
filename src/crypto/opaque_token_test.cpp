#include "crypto/opaque_token.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

TEST(OpaqueToken, IsFoundAgainByTheHashOfItsText) {
  testing::SeededRandom random;
  const auto token = generate_opaque_token(random, "pdb_session_");
  EXPECT_EQ(token.text.size(), 12u + 43u);
  EXPECT_TRUE(token.text.starts_with("pdb_session_"));
  EXPECT_EQ(token.hash, sha256(token.text));
  EXPECT_EQ(opaque_token_hash("pdb_session_", token.text), token.hash);
  EXPECT_NE(generate_opaque_token(random, "pdb_session_").text, token.text);
}

TEST(OpaqueToken, TextOfAnotherFormHasNoHash) {
  testing::SeededRandom random;
  const auto text = generate_opaque_token(random, "s_").text;
  EXPECT_FALSE(opaque_token_hash("r_", text));
  EXPECT_FALSE(opaque_token_hash("s_", text + "A"));
  EXPECT_FALSE(opaque_token_hash("s_", text.substr(0, text.size() - 1)));
  EXPECT_FALSE(opaque_token_hash("s_", ""));
  auto changed = text;
  changed[10] = '+';
  EXPECT_FALSE(opaque_token_hash("s_", changed));
  changed = text;
  changed.back() = 'B';  // stray bits: 43 characters carry two more than 32 bytes have
  EXPECT_FALSE(opaque_token_hash("s_", changed));
}

TEST(OpaqueToken, HasOneTextOnly) {
  testing::SeededRandom random;
  const auto text = generate_opaque_token(random, "").text;
  int accepted = 0;
  for (const char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")) {
    accepted += opaque_token_hash("", text.substr(0, 42) + c).has_value();
  }
  EXPECT_EQ(accepted, 16);  // four of the six last bits count
}

}  // namespace
}  // namespace presetbridge::crypto
