#include "storage/postgres/bulk_insert.h"

#include <fmt/format.h>

#include <regex>

namespace presetbridge::storage::postgres {

std::optional<BulkInsert> bulk_insert(std::string_view sql, int parameters) {
  // Without quotes and comments in what is matched word by word, a parenthesis is a parenthesis. The values
  // may hold literals, and calls one deep.
  static const std::regex form(
      R"(\s*(insert\s+into\s+\w+\s*\(\s*(\w+)[\w\s,]*\))\s*values\s*\(((?:'[^']*'|[^'"()]|\([^'"()]*\))*)\))"
      R"(\s*(on\s+conflict\s*(?:\([\w\s,]*\))?\s*do\s+nothing)?\s*;?\s*)",
      std::regex::icase | std::regex::optimize);
  std::match_results<std::string_view::const_iterator> found;
  if (parameters == 0 || sql.size() > 4'000 || sql.contains("--") || sql.contains("/*") ||
      !std::regex_match(sql.begin(), sql.end(), found, form))
    return std::nullopt;
  static const std::regex literal_or_parameter(R"('[^']*'|\$(\d+))");
  const std::string values = found[3].str();
  std::string row;
  auto at = values.begin();
  for (std::sregex_iterator it(values.begin(), values.end(), literal_or_parameter), end; it != end; ++it) {
    row.append(at, (*it)[0].first);
    row += (*it)[1].matched ? "r.p" + (*it)[1].str() : it->str();
    at = (*it)[0].second;
  }
  row.append(at, values.end());

  std::string arrays;
  std::string names;
  for (int i = 1; i <= parameters; ++i) {
    arrays += fmt::format("{}${}", i == 1 ? "" : ", ", i);
    names += fmt::format("{}p{}", i == 1 ? "" : ", ", i);
  }
  return BulkInsert{fmt::format("{} SELECT {} FROM unnest({}) AS r({}) {}", found[1].str(), row, arrays,
                                names, found[4].str()),
                    found[2].str()};
}

}  // namespace presetbridge::storage::postgres
