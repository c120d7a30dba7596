// Letters and digits of ASCII, without a locale. Every other byte, those of UTF-8 too, is left as it is.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace presetbridge {

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr std::string lowered(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = to_lower(c);
  return low;
}

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

constexpr bool is_alphanumeric(char c) {
  return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace presetbridge
