#include "domain/html_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace presetbridge::domain {
namespace {

struct Named {
  std::string_view name;
  std::uint32_t code;
};

// The Latin-1 characters from U+00A0 on.
constexpr std::array<std::string_view, 96> kLatin1{
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",
    "ordf",   "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",
    "acute",  "micro",  "para",   "middot", "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12",
    "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig",  "Ccedil",
    "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave", "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde",
    "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",
    "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",
    "aelig",  "ccedil", "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",
    "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave",
    "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

constexpr std::array kOthers{
    Named{"amp", '&'},       Named{"AMP", '&'},       Named{"lt", '<'},        Named{"LT", '<'},
    Named{"gt", '>'},        Named{"GT", '>'},        Named{"quot", '"'},      Named{"QUOT", '"'},
    Named{"apos", '\''},     Named{"OElig", 0x152},   Named{"oelig", 0x153},   Named{"Scaron", 0x160},
    Named{"scaron", 0x161},  Named{"Yuml", 0x178},    Named{"circ", 0x2C6},    Named{"tilde", 0x2DC},
    Named{"ensp", 0x2002},   Named{"emsp", 0x2003},   Named{"thinsp", 0x2009}, Named{"zwnj", 0x200C},
    Named{"zwj", 0x200D},    Named{"ndash", 0x2013},  Named{"mdash", 0x2014},  Named{"lsquo", 0x2018},
    Named{"rsquo", 0x2019},  Named{"sbquo", 0x201A},  Named{"ldquo", 0x201C},  Named{"rdquo", 0x201D},
    Named{"bdquo", 0x201E},  Named{"dagger", 0x2020}, Named{"Dagger", 0x2021}, Named{"bull", 0x2022},
    Named{"hellip", 0x2026}, Named{"permil", 0x2030}, Named{"prime", 0x2032},  Named{"Prime", 0x2033},
    Named{"lsaquo", 0x2039}, Named{"rsaquo", 0x203A}, Named{"euro", 0x20AC},   Named{"trade", 0x2122},
    Named{"minus", 0x2212}};

// The characters that browsers read for the references 128 to 159, where Unicode has control characters
// (HTML, 13.2.5.80).
constexpr std::array<std::uint32_t, 32> kWindows1252{
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

// "&#x0010FFFF;", with zeros in front, and longer than any name.
constexpr std::size_t kLongest = 12;

bool is_text(std::uint32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return true;
  return code >= 0x20 && (code < 0x7F || code >= 0xA0) && (code < 0xD800 || code > 0xDFFF) &&
         code <= 0x10FFFF;
}

std::optional<std::uint32_t> numeric(std::string_view digits) {
  const bool hex = digits.starts_with('x') || digits.starts_with('X');
  if (hex) digits.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (code >= 0x80 && code < 0xA0) code = kWindows1252[code - 0x80];
  return is_text(code) ? std::optional(code) : std::nullopt;
}

// The character of what stands between '&' and ';'.
std::optional<std::uint32_t> character_of(std::string_view reference) {
  if (reference.starts_with('#')) return numeric(reference.substr(1));
  if (const auto other = std::ranges::find(kOthers, reference, &Named::name); other != kOthers.end())
    return other->code;
  const auto latin = std::ranges::find(kLatin1, reference);
  if (latin == kLatin1.end()) return std::nullopt;
  return 0xA0 + static_cast<std::uint32_t>(latin - kLatin1.begin());
}

// Makes the reference at the end of `text`, which ends with ';', its character; and so on, where that is a
// ';'.
void decode_end(std::string& text) {
  while (text.ends_with(';')) {
    const std::string_view tail =
        std::string_view(text).substr(text.size() - std::min(text.size(), kLongest));
    const auto mark = tail.rfind('&');
    if (mark == tail.npos) return;
    const auto code = character_of(tail.substr(mark + 1, tail.size() - mark - 2));
    if (!code) return;
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(*code), bytes.data());
    text.replace(text.size() - (tail.size() - mark), text.npos, reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::size_t>(size));
  }
}

}  // namespace

std::string decode_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  // A reference is complete at its ';', and by then all before it is decoded: so one pass leaves none.
  for (const char c : text) {
    out += c;
    if (c == ';') decode_end(out);
  }
  return out;
}

}  // namespace presetbridge::domain
