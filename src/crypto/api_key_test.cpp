#include "crypto/api_key.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "base/testing.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

// The checksum was computed with another implementation of CRC-32.
constexpr std::string_view kKnown = "pdb_live_0123456789ABCDEFGHIJKLMNOPQRSTUV4Uwyzi";

TEST(ApiKey, HasThePublishedForm) {
  EXPECT_TRUE(is_well_formed_api_key(kKnown));
  EXPECT_EQ(hex_encode(api_key_hash(kKnown)),
            "ea84f52e2f71224af7d74558cd97c2e61c27ef3cbef36d493b49cde902bb892b");
  EXPECT_EQ(api_key_preview(kKnown), "pdb_live_…wyzi");
}

TEST(ApiKey, GeneratedKeysAreWellFormedAndDiffer) {
  testing::SeededRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto key = generate_api_key(random);
    EXPECT_TRUE(is_well_formed_api_key(key)) << i;
    seen.insert(key);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(ApiKey, AnyOneCharacterChangedMakesItIllFormed) {
  for (std::size_t i = 0; i < kKnown.size(); ++i) {
    for (const char c : std::string("0Az_- \n\0", 8)) {
      std::string changed(kKnown);
      if (changed[i] == c) continue;
      changed[i] = c;
      EXPECT_FALSE(is_well_formed_api_key(changed)) << i << c;
    }
  }
}

TEST(ApiKey, OtherLengthsPrefixesAndNeighboursSwappedAreIllFormed) {
  EXPECT_FALSE(is_well_formed_api_key(""));
  EXPECT_FALSE(is_well_formed_api_key("pdb_live_"));
  EXPECT_FALSE(is_well_formed_api_key(kKnown.substr(0, 46)));
  EXPECT_FALSE(is_well_formed_api_key(std::string(kKnown) + "0"));
  EXPECT_FALSE(is_well_formed_api_key(" " + std::string(kKnown)));
  std::string swapped(kKnown);
  std::swap(swapped[12], swapped[13]);
  EXPECT_FALSE(is_well_formed_api_key(swapped));
}

TEST(ApiKey, NoArbitraryTextIsWellFormed) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    RC_ASSERT(!is_well_formed_api_key(text));
    RC_ASSERT(!is_well_formed_api_key(std::string(kApiKeyPrefix) + text));
  }));
}

}  // namespace
}  // namespace presetbridge::crypto
