// Enumerations whose values have names in the database and the API: one table of names each, in the order of
// the values.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace presetbridge::domain {

// The value of that name; nothing for a text that is no name in the table.
template <class E, std::size_t N>
constexpr std::optional<E> parse_name(const std::array<std::string_view, N>& names, std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

}  // namespace presetbridge::domain
