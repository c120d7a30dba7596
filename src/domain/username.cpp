#include "domain/username.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/ascii.h"
#include "base/utf8.h"
#include "crypto/encoding.h"

namespace presetbridge::domain {
namespace {

constexpr utf8proc_int32_t kInvalid = -1;

struct Character {
  utf8proc_int32_t code;  // kInvalid: one byte that is no UTF-8
  std::size_t bytes;
};

// The character at the front of `text`, which is not empty.
Character front_character(std::string_view text) {
  utf8proc_int32_t code = kInvalid;
  const auto bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4)), &code);
  return bytes > 0 ? Character{code, static_cast<std::size_t>(bytes)} : Character{kInvalid, 1};
}

// The character at the end of `text`, which is not empty.
Character back_character(std::string_view text) {
  std::size_t start = text.size() - 1;
  while (start > 0 && text.size() - start < 4 && goes_on(text[start])) --start;
  const auto c = front_character(text.substr(start));
  return c.bytes == text.size() - start ? c : Character{kInvalid, 1};
}

// White space, and what shows nothing but comes along when text is copied: joiners, marks of direction, byte
// order marks.
bool is_blank(utf8proc_int32_t c) {
  if (c == kInvalid) return false;
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CF:
      return true;
    default:
      return c == 0x85;
  }
}

std::string_view trim_front(std::string_view text) {
  while (!text.empty()) {
    const auto c = front_character(text);
    if (!is_blank(c.code)) break;
    text.remove_prefix(c.bytes);
  }
  return text;
}

std::string_view without_at(std::string_view text) {
  if (!text.starts_with('@')) return text;
  const auto rest = trim_front(text.substr(1));
  return rest.starts_with('@') ? text : rest;
}

bool is_letter(char c) {
  return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

// "host.tld", with letters only after the last dot: what people leave of a URL when they drop its scheme.
bool looks_like_host(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || text.size() - dot < 3) return false;
  return std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '.' || c == '-'; }) &&
         std::ranges::all_of(text.substr(dot + 1), is_letter);
}

// The last path segment if `text` is a URL.
std::optional<std::string_view> url_segment(std::string_view text) {
  std::string_view path = text;
  bool scheme = false;
  for (const std::string_view prefix : {"https://", "http://"}) {
    if (!equal_ignoring_case(text.substr(0, prefix.size()), prefix)) continue;
    path.remove_prefix(prefix.size());
    scheme = true;
    break;
  }
  const auto slash = path.find('/');
  if (!scheme && (slash == std::string_view::npos || !looks_like_host(path.substr(0, slash))))
    return std::nullopt;
  path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  path = path.substr(0, path.find_first_of("?#"));
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// `segment` with its percent escapes read. Nothing if one is malformed, or if the text then has bytes that
// are no UTF-8, control characters, slashes or an '@'.
std::optional<std::string> percent_decoded(std::string_view segment) {
  std::string text;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      text += segment[i];
      continue;
    }
    std::array<std::byte, 1> byte{};
    if (!crypto::hex_decode_exactly(segment.substr(i + 1, 2), byte, crypto::HexCase::any))
      return std::nullopt;
    text += static_cast<char>(byte[0]);
    i += 2;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const auto c = front_character(rest);
    if (c.code == kInvalid || utf8proc_category(c.code) == UTF8PROC_CATEGORY_CC) return std::nullopt;
    if (c.code == '/' || c.code == '\\' || c.code == '@') return std::nullopt;
    rest.remove_prefix(c.bytes);
  }
  return text;
}

bool at_most(std::string_view text, std::size_t characters) {
  if (text.size() <= characters) return true;
  std::size_t n = 0;
  for (; !text.empty(); text.remove_prefix(front_character(text).bytes)) {
    if (++n > characters) return false;
  }
  return true;
}

// Takes what joins the words of a field name from the front: white space, '_' and '-'.
std::string_view skip_joiners(std::string_view text) {
  while (!text.empty()) {
    const auto c = front_character(text);
    if (!is_blank(c.code) && c.code != '_' && c.code != '-') break;
    text.remove_prefix(c.bytes);
  }
  return text;
}

// The significant part of a field name, cut one character beyond `longest`.
std::string field_key(std::string_view name, std::size_t longest) {
  std::string key;
  for (name = skip_joiners(name); !name.empty() && key.size() <= longest; name = skip_joiners(name)) {
    key += to_lower(name.front());
    name.remove_prefix(1);
  }
  return key;
}

// The text behind `name` at the front of `text`, or nothing (a null view) if `text` does not start with it.
std::string_view after_name(std::string_view text, std::string_view name) {
  name = skip_joiners(name);
  if (name.empty()) return {};
  for (; !name.empty(); name = skip_joiners(name)) {
    text = skip_joiners(text);
    if (text.empty() || to_lower(text.front()) != to_lower(name.front())) return {};
    text.remove_prefix(1);
    name.remove_prefix(1);
  }
  return text;
}

// The value after the mark that ends a label, or nothing if there is no mark. A dash needs white space on one
// side, else "username-less" would be a label with a value.
std::string_view after_mark(std::string_view text) {
  const auto marked = trim_front(text);
  if (marked.empty()) return {};
  const auto mark = front_character(marked);
  const auto value = trim_front(marked.substr(mark.bytes));
  switch (mark.code) {
    case ':':
    case '=':
    case 0xFF1A:
    case 0xFF1D:
      return value;
    case '-':
    case 0x2013:
    case 0x2014:
      return marked.size() < text.size() || value.size() + mark.bytes < marked.size() ? value
                                                                                      : std::string_view{};
    default:
      return {};
  }
}

// Takes the first line from the front of `text`.
std::string_view take_line(std::string_view& text) {
  std::size_t end = 0;
  std::size_t after = text.size();
  for (; end < text.size();) {
    const auto c = front_character(text.substr(end));
    if ((c.code >= 0x0A && c.code <= 0x0D) || c.code == 0x85 || c.code == 0x2028 || c.code == 0x2029) {
      after = end + c.bytes;
      break;
    }
    end += c.bytes;
  }
  const auto line = text.substr(0, end);
  text.remove_prefix(after);
  return line;
}

}  // namespace

std::string_view trim_unicode(std::string_view text) {
  text = trim_front(text);
  while (!text.empty()) {
    const auto c = back_character(text);
    if (!is_blank(c.code)) break;
    text.remove_suffix(c.bytes);
  }
  return text;
}

std::string normalise_username(std::string_view raw, std::size_t max_characters) {
  auto name = without_at(trim_unicode(raw));
  std::optional<std::string> decoded;
  if (const auto segment = url_segment(name)) {
    name = without_at(trim_unicode(*segment));
    decoded = percent_decoded(name);
    if (decoded) name = trim_unicode(*decoded);
  }
  if (!at_most(name, max_characters)) return {};
  return std::string(name);
}

bool same_field_name(std::string_view a, std::string_view b) {
  const auto rest = after_name(a, b);
  return rest.data() != nullptr && skip_joiners(rest).empty();
}

FieldNames::FieldNames(std::span<const std::string_view> names) {
  for (const auto name : names) {
    auto key = field_key(name, name.size());
    if (key.empty()) continue;
    longest_ = std::max(longest_, key.size());
    names_.push_back(std::move(key));
  }
  std::ranges::sort(names_);
}

bool FieldNames::contains(std::string_view name) const {
  return !names_.empty() && std::ranges::binary_search(names_, field_key(name, longest_));
}

std::string_view labelled_value(std::string_view note, std::span<const std::string_view> labels) {
  while (!note.empty()) {
    const auto line = trim_unicode(take_line(note));
    for (const auto label : labels) {
      const auto value = after_mark(after_name(line, label));
      if (!normalise_username(value, std::string_view::npos).empty()) return value;
    }
  }
  return {};
}

}  // namespace presetbridge::domain
