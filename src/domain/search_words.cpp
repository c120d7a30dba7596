#include "domain/search_words.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/ascii.h"

namespace presetbridge::domain {
namespace {

constexpr utf8proc_int32_t kLastAscii = 0x7f;

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

// The characters of the text without case and accents. Nothing: it is not UTF-8.
std::optional<std::string> folded(std::string_view text) {
  struct Free {
    void operator()(utf8proc_uint8_t* p) const { std::free(p); }
  };
  // The library's enumerators are bits, to be put together.
  constexpr auto how =
      static_cast<utf8proc_option_t>(  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange)
          UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK);
  utf8proc_uint8_t* made = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &made, how);
  const std::unique_ptr<utf8proc_uint8_t, Free> owned(made);
  if (size < 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
}

// The words, with a space between two.
std::string normalised(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) <= kLastAscii; };
  std::string made;
  const auto part = [&made] {
    if (!made.empty() && made.back() != ' ') made += ' ';
  };
  const auto other = std::ranges::all_of(text, is_ascii) ? std::nullopt : folded(text);
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
