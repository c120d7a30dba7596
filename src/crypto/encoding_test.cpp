#include "crypto/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <map>

#include "base/testing.h"

namespace presetbridge::crypto {
namespace {

Bytes bytes_of(std::string_view text) {
  const ByteView view(text);
  return {view.begin(), view.end()};
}

std::optional<Bytes> hex_decode(std::string_view text, HexCase accepted = HexCase::lower_only) {
  Bytes out(text.size() / 2);
  if (!hex_decode_exactly(text, out, accepted)) return std::nullopt;
  return out;
}

TEST(Encoding, HexIsLowerCaseAndUpperCaseIsReadOnlyWhenAskedFor) {
  EXPECT_EQ(hex_encode(std::string_view("\x00\xab\xff", 3)), "00abff");
  EXPECT_EQ(hex_decode("00abff"), bytes_of(std::string_view("\x00\xab\xff", 3)));
  EXPECT_FALSE(hex_decode("00ABff"));
  EXPECT_EQ(hex_decode("00ABff", HexCase::any), bytes_of(std::string_view("\x00\xab\xff", 3)));
  EXPECT_EQ(hex_decode(""), Bytes());
}

TEST(Encoding, HexRefusesOddLengthsOtherLettersSignsAndSpace) {
  for (const auto* text : {"0", "0ab", "0g", "0x12", " 00", "00 ", "0 0", "+1", "00\n"}) {
    EXPECT_FALSE(hex_decode(text, HexCase::any)) << text;
  }
  EXPECT_FALSE(hex_decode(std::string_view("00\0\0", 4)));
}

TEST(Encoding, Base64IsThatOfRfc4648) {
  const std::map<std::string, std::string> vectors = {{"", ""},
                                                      {"f", "Zg=="},
                                                      {"fo", "Zm8="},
                                                      {"foo", "Zm9v"},
                                                      {"foob", "Zm9vYg=="},
                                                      {"fooba", "Zm9vYmE="},
                                                      {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : vectors) {
    EXPECT_EQ(base64_encode(plain), text);
    EXPECT_EQ(base64_decode(text), bytes_of(plain));
    const auto bare = text.substr(0, text.find('='));
    EXPECT_EQ(base64url_encode(plain), bare);
    EXPECT_EQ(base64url_decode(bare), bytes_of(plain));
  }
  EXPECT_EQ(base64_encode("\xfb\xff\xfe"), "+//+");
  EXPECT_EQ(base64url_encode("\xfb\xff\xfe"), "-__-");
}

TEST(Encoding, Base64RefusesTruncatedTextWrongPaddingStrayBitsSpaceAndTheOtherAlphabet) {
  for (const auto* text : {"Zg", "Zg=", "Zg===", "Z", "Zm9", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", " Zm9v",
                           "Zm 9v", "-__-", "Zm9v=", "====", "=Zm9"}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
  EXPECT_FALSE(base64_decode(std::string_view("Zm9v\0", 5)));
}

TEST(Encoding, Base64UrlRefusesPaddingStrayBitsAndTheOtherAlphabet) {
  for (const auto* text : {"Zg==", "Zm8=", "Zh", "Zm9", "Z", "+//+", "Zm9v.", "Zm9v "}) {
    EXPECT_FALSE(base64url_decode(text)) << text;
  }
}

TEST(Encoding, Base64RefusesEveryByteBeyondAscii) {
  for (int byte = 0x80; byte <= 0xff; ++byte) {
    const auto text = std::string(1, static_cast<char>(byte)) + "AAA";
    EXPECT_FALSE(base64_decode(text)) << byte;
    EXPECT_FALSE(base64url_decode(text)) << byte;
    std::array<std::byte, 3> out;
    EXPECT_FALSE(base64_decode_exactly(text, out)) << byte;
  }
}

TEST(Encoding, EveryValueComesBackAndEveryAcceptedTextIsTheOneThatEncodingMakes) {
  EXPECT_TRUE(rc::check([](const std::string& plain) {
    RC_ASSERT(base64_decode(base64_encode(plain)) == bytes_of(plain));
    RC_ASSERT(base64url_decode(base64url_encode(plain)) == bytes_of(plain));
    RC_ASSERT(hex_decode(hex_encode(plain)) == bytes_of(plain));
  }));
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ABCDwxyz0189+/-_= ")));
    if (const auto decoded = base64_decode(text)) RC_ASSERT(base64_encode(*decoded) == text);
    if (const auto decoded = base64url_decode(text)) RC_ASSERT(base64url_encode(*decoded) == text);
  }));
}

TEST(Encoding, ExactDecodingRefusesOtherSizes) {
  std::array<std::byte, 3> out;
  EXPECT_TRUE(base64_decode_exactly("Zm9v", out));
  EXPECT_EQ(text_of(out), "foo");
  EXPECT_FALSE(base64_decode_exactly("Zm8=", out));
  EXPECT_FALSE(base64_decode_exactly("Zm9vYg==", out));
  EXPECT_FALSE(base64_decode_exactly("", out));
  EXPECT_TRUE(hex_decode_exactly("666f6f", out));
  EXPECT_FALSE(hex_decode_exactly("666f", out));
  EXPECT_FALSE(hex_decode_exactly("666f6f6f", out));
  EXPECT_TRUE(base64_decode_exactly("", {}));
  EXPECT_FALSE(base64_decode_exactly("Zg==", {}));
  EXPECT_TRUE(hex_decode_exactly("", {}));
  EXPECT_FALSE(hex_decode_exactly("66", {}));
}

TEST(Encoding, RandomBase62UsesEveryLetterAboutEquallyOften) {
  testing::SeededRandom random;
  std::map<char, int> counts;
  for (const char c : random_base62(random, 62'000)) ++counts[c];
  EXPECT_EQ(counts.size(), 62u);
  for (const auto& [letter, count] : counts) {
    EXPECT_NE(kBase62Alphabet.find(letter), kBase62Alphabet.npos);
    EXPECT_NEAR(count, 1000, 150) << letter;  // almost 5 standard deviations
  }
  EXPECT_EQ(random_base62(random, 1).size(), 1u);
  EXPECT_EQ(random_base62(random, 0), "");
}

}  // namespace
}  // namespace presetbridge::crypto
