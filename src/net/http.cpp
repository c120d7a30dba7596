#include "net/http.h"

#include <algorithm>

#include "base/ascii.h"

namespace presetbridge::net {

bool same_field_name(std::string_view a, std::string_view b) {
  return equal_ignoring_case(a, b);
}

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() &&
         std::ranges::all_of(text, [&](char c) { return is_alphanumeric(c) || marks.contains(c); });
}

std::optional<std::string_view> Headers::get(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (same_field_name(field, name)) return value;
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields_, [&](const auto& field) { return same_field_name(field.first, name); }));
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [field, value] : fields_) {
    if (same_field_name(field, name)) values.push_back(value);
  }
  return values;
}

}  // namespace presetbridge::net
