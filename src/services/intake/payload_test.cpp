#include "services/intake/payload.h"

#include <gtest/gtest.h>

#include <limits>

namespace presetbridge::services {
namespace {

TEST(PayloadTest, IsKeptAsItCame) {
  for (const auto& body :
       {std::string(), std::string("{}"), std::string(100'000, 'x'), std::string("a\0b", 3)}) {
    const auto stored = compress_payload(body);
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_FALSE(stored->empty());
    const auto back = decompress_payload(*stored, 1'000'000);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, body);
  }
}

TEST(PayloadTest, WhatCannotBeCompressedIsAnErrorAndNotNothing) {
  // Longer than zstd takes; it says so before it reads.
  const std::string_view endless("x", std::numeric_limits<std::size_t>::max());
  const auto refused = compress_payload(endless);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "INTERNAL_ERROR");
  EXPECT_TRUE(refused.error().message.contains("could not be compressed")) << refused.error().message;
  EXPECT_TRUE(compress_payload("{}")) << "the next one is none the worse for it";
}

TEST(PayloadTest, WhatIsNoPayloadOrTooLargeIsNotRead) {
  const auto stored = compress_payload(std::string(1'000, 'x'));
  ASSERT_TRUE(stored);
  EXPECT_FALSE(decompress_payload(*stored, 999));
  EXPECT_FALSE(decompress_payload({}, 1'000));
  auto cut = *stored;
  cut.pop_back();
  EXPECT_FALSE(decompress_payload(cut, 1'000));
}

}  // namespace
}  // namespace presetbridge::services
