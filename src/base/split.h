// Lists that are written as one text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace presetbridge {

// The parts of `text` between separators, in order; empty ones are left out.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

}  // namespace presetbridge
