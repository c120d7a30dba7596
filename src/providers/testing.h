// For the tests of providers/: the recorded payloads, and headers from a list.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "providers/parse.h"

namespace presetbridge::providers::testing {

inline std::string golden(const std::string& name) {
  std::ifstream file(PRESETBRIDGE_GOLDEN_DIR "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no such golden payload: " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline HeaderValues headers_of(std::vector<std::pair<std::string, std::string>> fields) {
  return [fields = std::move(fields)](std::string_view name) {
    std::vector<std::string_view> values;
    for (const auto& [field, value] : fields) {
      if (equal_ignoring_case(field, name)) values.push_back(value);
    }
    return values;
  };
}

inline Expected<domain::OrderEvent> parse_with(domain::Provider provider, std::string_view body,
                                               std::string_view topic = {},
                                               std::span<const std::string> username_fields = {}) {
  return parse(
      profile_of(provider),
      {.body = body, .topic = topic, .test = false, .username_fields = username_fields, .limits = {}});
}

// "[[[…]]]", `depth` deep.
inline std::string nested_arrays(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace presetbridge::providers::testing
