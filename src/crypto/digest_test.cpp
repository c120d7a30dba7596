#include "crypto/digest.h"

#include <gtest/gtest.h>

#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

TEST(Digest, Sha256IsThatOfFips180) {
  EXPECT_EQ(hex_encode(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_encode(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_encode(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, HmacSha256IsThatOfRfc4231) {
  struct Case {
    std::string key, data, mac;
  };
  const Case cases[] = {
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. The key needs "
       "to be "
       "hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
  for (const auto& [key, data, mac] : cases) EXPECT_EQ(hex_encode(hmac_sha256(key, data)), mac);
}

TEST(Digest, HmacTakesAnEmptyKeyAndEmptyData) {
  const auto expected = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
  EXPECT_EQ(hex_encode(hmac_sha256("", "")), expected);
  EXPECT_EQ(hex_encode(hmac_sha256(ByteView(), ByteView())), expected);
}

TEST(Digest, ConstantTimeEqualityComparesEveryByteAndTheLength) {
  EXPECT_TRUE(equal_constant_time("", ""));
  EXPECT_TRUE(equal_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_constant_time("secret", "secre"));
  EXPECT_FALSE(equal_constant_time("", "s"));
  for (int i = 0; i < 6; ++i) {
    std::string other = "secret";
    other[i] ^= 1;
    EXPECT_FALSE(equal_constant_time("secret", other));
  }
}

}  // namespace
}  // namespace presetbridge::crypto
