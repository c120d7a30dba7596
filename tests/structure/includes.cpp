#include "includes.h"

#include <regex>

namespace presetbridge::structure {

bool is_test(std::string_view path) {
  return path.ends_with("_test.cpp") || path.ends_with("/testing.h") || path.ends_with("_testing.h") ||
         path.find("/testing/") != std::string_view::npos;
}

bool is_cpp(std::string_view path) {
  return path.ends_with(".cpp") || path.ends_with(".h");
}

std::optional<std::string_view> below_src(std::string_view path) {
  constexpr std::string_view kRoot = "src/";
  if (!path.starts_with(kRoot)) return std::nullopt;
  return path.substr(kRoot.size());
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> includes;
  int number = 0;
  for (const auto line : lines_of(file.text)) {
    ++number;
    std::cmatch match;
    if (std::regex_search(line.data(), line.data() + line.size(), match, pattern))
      includes.push_back({number, match[1].str()});
  }
  return includes;
}

}  // namespace presetbridge::structure
