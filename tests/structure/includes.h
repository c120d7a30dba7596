// The paths, lines and includes of source files, for the rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"

namespace presetbridge::structure {

bool is_test(std::string_view path);
bool is_cpp(std::string_view path);
// The path counted from src/; nothing for one that is not in it.
std::optional<std::string_view> below_src(std::string_view path);
std::vector<std::string_view> lines_of(std::string_view text);

struct Include {
  int line;  // counts from 1
  std::string header;
};
std::vector<Include> includes_of(const SourceFile& file);

}  // namespace presetbridge::structure
