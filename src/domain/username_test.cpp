#include "domain/username.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

namespace presetbridge::domain {
namespace {

constexpr std::array<std::string_view, 3> kLabels{"vendor_username", "cloud_username", "dsp_username"};
constexpr std::array<std::string_view, 1> kBare{"username"};

TEST(Username, IsTrimmedOfUnicodeWhiteSpaceAndZeroWidthCharacters) {
  EXPECT_EQ(normalise_username("  kim \t\r\n"), "kim");
  EXPECT_EQ(normalise_username("\u00a0\u2003\u3000kim\u2028\u0085"), "kim");
  EXPECT_EQ(normalise_username("\ufeff\u200b\u200d\u2060\u202akim\u200f\u00ad"), "kim");
  EXPECT_EQ(normalise_username("kim  lee"), "kim  lee");
  EXPECT_EQ(normalise_username("k\u200dim"), "k\u200dim");
}

TEST(Username, LosesOneLeadingAtSign) {
  EXPECT_EQ(normalise_username("@kim"), "kim");
  EXPECT_EQ(normalise_username(" @ kim"), "kim");
  EXPECT_EQ(normalise_username("\u200b@\u200bkim"), "kim");
  EXPECT_EQ(normalise_username("@@kim"), "@@kim");
  EXPECT_EQ(normalise_username("kim@home"), "kim@home");
}

TEST(Username, OfAPastedProfileUrlIsItsLastPathSegment) {
  EXPECT_EQ(normalise_username("https://cloud.example/users/kim"), "kim");
  EXPECT_EQ(normalise_username("HTTP://cloud.example/users/kim/"), "kim");
  EXPECT_EQ(normalise_username("https://cloud.example/@kim?tab=a/b#top/x"), "kim");
  EXPECT_EQ(normalise_username(" @https://cloud.example/u/kim "), "kim");
  EXPECT_EQ(normalise_username("cloud.example/u/kim"), "kim");
  EXPECT_EQ(normalise_username("www.cloud.example/kim"), "kim");
  EXPECT_EQ(normalise_username("https://cloud.example/u/jörg"), "jörg");
}

TEST(Username, OfAPastedProfileUrlIsReadWithoutPercentEncoding) {
  EXPECT_EQ(normalise_username("https://cloud.example/u/j%C3%B6rg"), "j\u00f6rg");
  EXPECT_EQ(normalise_username("cloud.example/u/j%c3%b6rg/?tab=a%20b"), "j\u00f6rg");
  EXPECT_EQ(normalise_username("https://cloud.example/@j%C3%B6rg"), "j\u00f6rg");
  EXPECT_EQ(normalise_username("https://cloud.example/u/kim%20lee%20"), "kim lee");
  EXPECT_EQ(normalise_username("https://cloud.example/u/100%25"), "100%");
  EXPECT_EQ(normalise_username("https://cloud.example/u/kim+lee"), "kim+lee");
  EXPECT_EQ(normalise_username("https://cloud.example/u/%2541"), "%41");
  EXPECT_EQ(normalise_username("https://cloud.example/u/%20"), "");
  std::string wide = "https://cloud.example/u/";
  for (int i = 0; i < 200; ++i) wide += "%C3%B6";
  EXPECT_EQ(normalise_username(wide).size(), 400u);
  EXPECT_EQ(normalise_username(wide + "x"), "");
}

TEST(Username, KeepsAPercentSignThatEncodesNoName) {
  EXPECT_EQ(normalise_username("j%C3%B6rg"), "j%C3%B6rg") << "it is no URL";
  for (const auto segment : {"100%", "%4", "%zz", "%C3", "%C3%28", "%00", "kim%0A", "%C2%85", "a%2Fb",
                             "a%5Cb", "%40kim", "kim%40home"}) {
    EXPECT_EQ(normalise_username(std::string("https://cloud.example/u/") + segment), segment);
  }
}

TEST(Username, OfAUrlWithoutAPathIsNone) {
  for (const auto url : {"https://cloud.example", "https://cloud.example/", "https://", "https:///",
                         "https://cloud.example/?u=kim"}) {
    EXPECT_EQ(normalise_username(url), "") << url;
  }
}

TEST(Username, MayHoldASlashThatIsNoUrl) {
  EXPECT_EQ(normalise_username("kim/lee"), "kim/lee");
  EXPECT_EQ(normalise_username("a b.c/kim"), "a b.c/kim");
  EXPECT_EQ(normalise_username("v1.5/kim"), "v1.5/kim");
  EXPECT_EQ(normalise_username("kim.lee"), "kim.lee");
}

TEST(Username, IsNoneWhenNothingIsLeft) {
  for (const auto raw : {"", " ", "@", "@ ", " \u200b@\u200b ", "\ufeff", "https://cloud.example/@"}) {
    EXPECT_EQ(normalise_username(raw), "") << raw;
  }
}

TEST(Username, IsNeverGuessedFromAnEmailAddress) {
  EXPECT_EQ(normalise_username("kim@example.com"), "kim@example.com");
}

TEST(Username, HasAtMostTwoHundredCharactersNotBytes) {
  EXPECT_EQ(normalise_username(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(normalise_username(std::string(201, 'x')), "");
  EXPECT_EQ(normalise_username("@" + std::string(200, 'x') + "  "), std::string(200, 'x'));
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "ö";
  EXPECT_EQ(normalise_username(wide), wide);
  EXPECT_EQ(normalise_username(wide + "ö"), "");
  EXPECT_EQ(normalise_username("abcdef", 5), "");
}

TEST(Username, SurvivesTextThatIsNoUtf8) {
  EXPECT_EQ(normalise_username(" \xff\xfe "), "\xff\xfe");
  EXPECT_EQ(normalise_username("kim\xe2\x80"), "kim\xe2\x80");
  EXPECT_EQ(normalise_username(std::string(201, '\x80')), "");
}

// Text made of the parts that the rules examine, so that their combinations occur.
rc::Gen<std::string> tricky_text() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
                          rc::gen::elementOf(std::vector<std::string>{
                              "@",        " ",      "/",        "//",     ":",        "https://",
                              "http://",  "a.com",  ".",        "?",      "#",        "\u200b",
                              "\u00a0",   "\xff",   "%C3%B6",   "%4",     "1",        "%2F",
                              "\xe2\x80", "kim",    "-",        "=",      "_",        "\n",
                              "\r\n",     "\u2028", "Username", "vendor", "username", "cloud_username",
                              "–"}),
                          rc::gen::arbitrary<std::string>())),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const auto& part : parts) text += part;
                        return text;
                      });
}

TEST(Username, NormalisesToItself) {
  EXPECT_TRUE(rc::check([] {
    const auto raw = *tricky_text();
    const auto once = normalise_username(raw);
    RC_ASSERT(normalise_username(once) == once);
  }));
}

// `text` with all of its percent escapes read.
std::string unescaped(std::string_view text) {
  std::string read;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    const auto digits = text.substr(i).starts_with('%') ? text.substr(i + 1, 2) : std::string_view();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool escape = digits.size() == 2 && error == std::errc() && end == digits.data() + 2 && byte >= 0;
    read += escape ? static_cast<char>(byte) : text[i];
    if (escape) i += 2;
  }
  return read;
}

TEST(Username, IsAlwaysAPartOfWhatWasTyped) {
  EXPECT_TRUE(rc::check([] {
    const auto raw = *tricky_text();
    const auto name = normalise_username(raw);
    RC_ASSERT(raw.contains(name) || unescaped(raw).contains(name));
    const auto value = labelled_value(raw, kLabels);
    RC_ASSERT(value.empty() ||
              (value.data() >= raw.data() && value.data() + value.size() <= raw.data() + raw.size()));
  }));
}

TEST(FieldName, IsTheSameInAnyCaseAndWithAnyJoiner) {
  EXPECT_TRUE(same_field_name("vendor_username", "Vendor Username"));
  EXPECT_TRUE(same_field_name("VENDOR-USERNAME", "vendor_username"));
  EXPECT_TRUE(same_field_name(" vendorUsername ", "vendor_username"));
  EXPECT_TRUE(same_field_name("vendor\u00a0username", "vendor_username"));
  EXPECT_FALSE(same_field_name("vendor_username2", "vendor_username"));
  EXPECT_FALSE(same_field_name("vendor", "vendor_username"));
  EXPECT_FALSE(same_field_name("", ""));
  EXPECT_FALSE(same_field_name("_", "-"));
  EXPECT_FALSE(same_field_name("x", ""));
}

TEST(FieldNames, AgreeWithComparingEachName) {
  EXPECT_TRUE(rc::check([] {
    const auto part =
        rc::gen::element<std::string>("a", "B", "b", "é", "_", "-", " ", "\u00a0", "\u200b", "\xc3", "");
    const auto word = [&] {
      std::string text;
      for (int i = 0; i < 4; ++i) text += *part;
      return text;
    };
    const std::vector<std::string> names{word(), word(), word()};
    const std::vector<std::string_view> views(names.begin(), names.end());
    const FieldNames set(views);
    const auto asked = word();
    RC_ASSERT(set.contains(asked) ==
              std::ranges::any_of(names, [&](const auto& name) { return same_field_name(asked, name); }));
  }));
  EXPECT_FALSE(FieldNames({}).contains(""));
}

TEST(FieldName, ComparesTheSameBothWays) {
  EXPECT_TRUE(rc::check([] {
    const auto a = *tricky_text();
    const auto b = *tricky_text();
    RC_ASSERT(same_field_name(a, b) == same_field_name(b, a));
  }));
}

TEST(Note, IsReadAfterALabelInAnyWriting) {
  EXPECT_EQ(labelled_value("vendor username: kim", kLabels), "kim");
  EXPECT_EQ(labelled_value("cloud_username = kim", kLabels), "kim");
  EXPECT_EQ(labelled_value("Username - @kim", kBare), "@kim");
  EXPECT_EQ(labelled_value("VENDOR-USERNAME:kim", kLabels), "kim");
  EXPECT_EQ(labelled_value("Vendor Username – kim", kLabels), "kim");
  EXPECT_EQ(labelled_value("Vendor Username： kim", kLabels), "kim");
  EXPECT_EQ(labelled_value("  - dsp username : kim lee  ", kLabels), "kim lee");
  EXPECT_EQ(labelled_value("username=https://cloud.example/u/kim", kBare), "https://cloud.example/u/kim");
}

TEST(Note, IsReadLineByLine) {
  EXPECT_EQ(labelled_value("Thanks!\r\nvendor username: kim\r\nbye", kLabels), "kim");
  EXPECT_EQ(labelled_value("a\u2028cloud username: kim\u2028b", kLabels), "kim");
  EXPECT_EQ(labelled_value("vendor username:\nkim", kLabels), "");
  EXPECT_EQ(
      labelled_value("vendor username:\ncloud username: @\ndsp username: kim\nvendor username: lee", kLabels),
      "kim");
}

TEST(Note, WithoutALabelNamesNobody) {
  for (const auto note : {"", "kim", "please call me", "my vendor username is kim", "vendor username kim",
                          "username2: kim", "user name", "send to vendor username: kim", "vendor username",
                          "vendor username:", "vendor username: @", ": kim", "- kim"}) {
    EXPECT_EQ(labelled_value(note, kLabels), "") << note;
  }
  EXPECT_EQ(labelled_value("Username-less order", kBare), "");
  EXPECT_EQ(labelled_value("Instagram username: kim", kBare), "");
}

TEST(Note, IsNotSplitWithinTheLine) {
  EXPECT_EQ(labelled_value("username: kim, thanks", kBare), "kim, thanks");
}

}  // namespace
}  // namespace presetbridge::domain
