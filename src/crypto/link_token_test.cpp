#include "crypto/link_token.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/testing.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

Bytes key_of(char fill) {
  return Bytes(kLinkKeyBytes, static_cast<std::byte>(fill));
}

// Made with another implementation:
// python3 -c 'import hmac,base64; m=(4711).to_bytes(8,"big"); k=b"k"*32; print(base64.urlsafe_b64encode(
//   m+hmac.new(k,m+(3).to_bytes(8,"big"),"sha256").digest()[:16]).decode())'
TEST(LinkToken, HasThePublishedForm) {
  EXPECT_EQ(make_link_token(key_of('k'), 4711, 3), "AAAAAAAAEmepAYpYXrsrLBdP9wfBgV1s");
}

TEST(LinkToken, NamesItsRowAndIsTrueForItsKeyAndVersionAlone) {
  for (const std::int64_t id : {std::int64_t{1}, std::numeric_limits<std::int64_t>::max()}) {
    const auto text = make_link_token(key_of('k'), id, 3);
    ASSERT_EQ(text.size(), kLinkTokenLength);
    const auto claim = parse_link_token(text);
    ASSERT_TRUE(claim);
    EXPECT_EQ(claim->id, id);
    EXPECT_TRUE(is_link_of(key_of('k'), *claim, 3));
    EXPECT_FALSE(is_link_of(key_of('k'), *claim, 2));
    EXPECT_FALSE(is_link_of(key_of('k'), *claim, 4));
    EXPECT_FALSE(is_link_of(key_of('K'), *claim, 3));
  }
}

TEST(LinkToken, WithAnyBitChangedIsNotTrue) {
  const auto raw = *base64url_decode(make_link_token(key_of('k'), 4711, 1));
  for (std::size_t bit = 0; bit < raw.size() * 8; ++bit) {
    auto altered = raw;
    altered[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto claim = parse_link_token(base64url_encode(altered));
    if (claim) EXPECT_FALSE(is_link_of(key_of('k'), *claim, 1)) << bit;
  }
}

TEST(LinkToken, OfNoRowIsNotRead) {
  const auto good = make_link_token(key_of('k'), 4711, 1);
  for (const std::string& text : {std::string(), good.substr(1), good + "A", good.substr(1) + "=",
                                  good.substr(1) + "+", good.substr(1) + std::string(1, '\0'),
                                  std::string(1'000'000, 'A'), std::string(kLinkTokenLength, 'A'),
                                  make_link_token(key_of('k'), 0, 1), make_link_token(key_of('k'), -1, 1)})
    EXPECT_FALSE(parse_link_token(text)) << text.substr(0, 40);
}

}  // namespace
}  // namespace presetbridge::crypto
