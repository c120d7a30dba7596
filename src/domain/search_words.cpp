#include "domain/search_words.h"

#include <utf8proc.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "domain/utf8_map.h"

namespace presetbridge::domain {
namespace {

constexpr utf8proc_int32_t kLastAscii = 0x7f;
// Characters without case and accents.
constexpr int kFolding =
    UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK;

bool is_apostrophe(utf8proc_int32_t c) {
  return c == '\'' || c == '`' || c == 0x00b4 || c == 0x2018 || c == 0x2019 || c == 0x02bc || c == 0x2032;
}

bool is_in_word(utf8proc_int32_t c) {
  if (c <= kLastAscii) return is_alphanumeric(static_cast<char>(c));
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

// The words, with a space between two.
std::string normalised(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) <= kLastAscii; };
  std::string made;
  const auto part = [&made] {
    if (!made.empty() && made.back() != ' ') made += ' ';
  };
  const auto other = std::ranges::all_of(text, is_ascii) ? std::nullopt : utf8_map(text, kFolding);
  if (!other) {
    for (const char c : text) {
      if (c == '\'' || c == '`') continue;
      is_alphanumeric(c) ? void(made += to_lower(c)) : part();
    }
    return made;
  }
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(other->data());
  for (auto left = static_cast<utf8proc_ssize_t>(other->size()); left > 0;) {
    utf8proc_int32_t c = 0;
    const auto size = std::max<utf8proc_ssize_t>(utf8proc_iterate(at, left, &c), 1);
    if (is_apostrophe(c)) {
      // It parts no words.
    } else if (is_in_word(c)) {
      made.append(reinterpret_cast<const char*>(at), static_cast<std::size_t>(size));
    } else {
      part();
    }
    at += size;
    left -= size;
  }
  return made;
}

}  // namespace

SearchWords::SearchWords(std::string_view text) {
  const auto words = normalised(text);
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    words_.push_back(words.substr(at, end - at));
    at = end + 1;
  }
}

bool SearchWords::are_in(std::string_view name) const {
  if (words_.empty()) return true;
  const auto in = normalised(name);
  auto joined = in;
  std::erase(joined, ' ');
  return std::ranges::all_of(
      words_, [&](const std::string& word) { return in.contains(word) || joined.contains(word); });
}

}  // namespace presetbridge::domain
