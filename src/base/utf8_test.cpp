#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace presetbridge {
namespace {

TEST(Utf8, CharactersAreOneToFourBytes) {
  EXPECT_EQ(character_size("az"), 1U);
  EXPECT_EQ(character_size(std::string_view("\0", 1)), 1U);
  EXPECT_EQ(character_size("\x7F"), 1U);
  for (const auto* two : {"\xC2\x80", "\xDF\xBF"}) EXPECT_EQ(character_size(two), 2U);
  for (const auto* three : {"\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF"})
    EXPECT_EQ(character_size(three), 3U);
  for (const auto* four : {"\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) EXPECT_EQ(character_size(four), 4U);
}

TEST(Utf8, IsNotOverlongNorASurrogateNorCutShort) {
  for (const auto* text : {"", "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF",
                           "\xED\xA0\x80", "\xED\xBF\xBF", "\xE2\x82", "\xE2\x82\x41", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF0\x9F\x98", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(character_size(text), 0U) << text;
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("aö€🎸"));
  EXPECT_FALSE(is_utf8("aö\x80"));
  EXPECT_FALSE(is_utf8("aö\xC3"));
}

TEST(Utf8, IsCountedInCharacters) {
  EXPECT_EQ(characters(""), 0U);
  EXPECT_EQ(characters("aö€🎸"), 4U);
  EXPECT_EQ(first_characters("aö€🎸", 2), "aö");
  EXPECT_EQ(first_characters("aö€🎸", 4), "aö€🎸");
  EXPECT_EQ(first_characters("aö€🎸", 5), "aö€🎸");
  EXPECT_EQ(first_characters("ö", 0), "");
}

TEST(Utf8, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_utf8("aö", 3), "aö");
  EXPECT_EQ(cut_utf8("aö", 2), "a");
  EXPECT_EQ(cut_utf8("🎸🎸", 7), "🎸");
  EXPECT_EQ(cut_utf8("abc", 0), "");
  EXPECT_LE(cut_utf8(std::string(100, '\x80'), 50).size(), 50u);
}

}  // namespace
}  // namespace presetbridge
