#include "net/http.h"

#include <algorithm>

namespace presetbridge::net {

bool same_field_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
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
