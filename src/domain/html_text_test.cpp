#include "domain/html_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <utility>
#include <vector>

namespace presetbridge::domain {
namespace {

TEST(HtmlText, ReadsTheReferencesThatShopsWrite) {
  const std::vector<std::pair<std::string, std::string>> known = {
      {"Rock &amp; Roll", "Rock & Roll"},
      {"&lt;3 &gt; &quot;x&quot; &apos;y&apos;", "<3 > \"x\" 'y'"},
      {"Player&#8217;s &#8211; &#x27;59 &#X2019;", "Player’s – '59 ’"},
      {"&ldquo;Caf&eacute;&rdquo;&nbsp;&hellip; &trade;&reg;&copy;", "“Café”\u00a0… ™®©"},
      {"&Eacute;&eacute;&szlig;&yuml;&AMP;&LT;", "Ééßÿ&<"},
      {"&#146;&#x96;", "’–"},
      {"&#128512;", "😀"},
      {"&#65;&#x41;&#0000000065;", "AA&#0000000065;"}};
  for (const auto& [written, read] : known) EXPECT_EQ(decode_html(written), read) << written;
}

TEST(HtmlText, LeavesWhatIsNoReference) {
  for (const std::string text :
       {"", "plain; text", "AT&T", "a & b;", "&;", "&#;", "&#x;", "&nosuch;", "&amp", "&lt 3;", "&EACUTE;",
        "& amp;", "&#-1;", "&#+1;", "&# 65;", "&#x 41;", "&#65.0;", "&amp.;", "&\xff;"}) {
    EXPECT_EQ(decode_html(text), text);
  }
}

TEST(HtmlText, NeverMakesControlCharactersOrSurrogates) {
  for (const std::string text : {"&#0;", "&#x0;", "&#7;", "&#27;", "&#127;", "&#129;", "&#xD800;", "&#xDFFF;",
                                 "&#x110000;", "&#99999999;", "&#4294967361;"}) {
    EXPECT_EQ(decode_html(text), text);
  }
  EXPECT_EQ(decode_html("a&#9;b&#10;c"), "a\tb\nc");
}

TEST(HtmlText, IsReadUntilNothingIsLeftToRead) {
  EXPECT_EQ(decode_html("&amp;lt;"), "<");
  EXPECT_EQ(decode_html("&amp;amp;amp;#8217;"), "’");
  EXPECT_EQ(decode_html("&#38;#38;lt&#59;"), "<");
  std::string nested = "&";
  for (int i = 0; i < 5'000; ++i) nested += "amp;";
  EXPECT_EQ(decode_html(nested), "&");
}

TEST(HtmlText, IsIdempotentAndNeverLonger) {
  EXPECT_TRUE(rc::check([] {
    const auto part = rc::gen::element<std::string>("&", "&amp", ";", "lt", "#", "38", "x3b", "a", "é",
                                                    "amp;", "&#59;", "&lt;", "\xff", "eacute", "&#146");
    std::string text;
    const int parts = *rc::gen::inRange(0, 30);
    for (int i = 0; i < parts; ++i) text += *part;
    const auto once = decode_html(text);
    RC_ASSERT(once.size() <= text.size());
    RC_ASSERT(decode_html(once) == once);
  }));
}

}  // namespace
}  // namespace presetbridge::domain
