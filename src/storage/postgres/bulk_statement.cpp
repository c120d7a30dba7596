#include "storage/postgres/bulk_statement.h"

#include <fmt/format.h>

#include <regex>

namespace presetbridge::storage::postgres {
namespace {

constexpr auto kForm = std::regex::icase | std::regex::optimize;

// A longer text, or one with comments, is not matched against the forms.
bool readable(std::string_view sql, int parameters) {
  return parameters > 0 && sql.size() <= 4'000 && !sql.contains("--") && !sql.contains("/*");
}

// $k becomes the column of the row that holds it; literals stay.
std::string of_row(const std::string& sql) {
  static const std::regex literal_or_parameter(R"('[^']*'|\$(\d+))");
  std::string row;
  auto at = sql.begin();
  for (std::sregex_iterator it(sql.begin(), sql.end(), literal_or_parameter), end; it != end; ++it) {
    row.append(at, (*it)[0].first);
    row += (*it)[1].matched ? "r.p" + (*it)[1].str() : it->str();
    at = (*it)[0].second;
  }
  row.append(at, sql.end());
  return row;
}

std::string numbered(std::string_view before, int count) {
  std::string list;
  for (int i = 1; i <= count; ++i) list += fmt::format("{}{}{}", i == 1 ? "" : ", ", before, i);
  return list;
}

std::string rows_of_arrays(int parameters) {
  return fmt::format("unnest({}) AS r({})", numbered("$", parameters), numbered("p", parameters));
}

}  // namespace

std::optional<BulkInsert> bulk_insert(std::string_view sql, int parameters) {
  // No quotes and comments are in the text that is matched word by word, so each parenthesis there is one of SQL.
  // The values may hold literals, and calls one deep.
  static const std::regex form(
      R"(\s*(insert\s+into\s+\w+\s*\(\s*(\w+)[\w\s,]*\))\s*values\s*\(((?:'[^']*'|[^'"()]|\([^'"()]*\))*)\))"
      R"(\s*(on\s+conflict\s*(?:\([\w\s,]*\))?\s*do\s+(?:nothing|)"
      R"(update\s+set\s+(\w+)\s*=\s*\w+\.\5\s*\+\s*excluded\.\5))?\s*;?\s*)",
      kForm);
  std::match_results<std::string_view::const_iterator> found;
  if (!readable(sql, parameters) || !std::regex_match(sql.begin(), sql.end(), found, form))
    return std::nullopt;
  return BulkInsert{fmt::format("{} SELECT {} FROM {} {}", found[1].str(), of_row(found[3].str()),
                                rows_of_arrays(parameters), found[4].str()),
                    found[2].str()};
}

std::optional<std::string> bulk_update(std::string_view sql, int parameters) {
  static const std::regex form(
      R"(\s*(update\s+\w+\s+set\s(?:'[^']*'|[^'"])*?)\swhere\s((?:'[^']*'|[^'";])*);?\s*)", kForm);
  static const std::regex literal("'[^']*'");
  static const std::regex nested(R"(\b(?:select|returning|from|where)\b)", kForm);
  std::match_results<std::string_view::const_iterator> found;
  if (!readable(sql, parameters) || !std::regex_match(sql.begin(), sql.end(), found, form))
    return std::nullopt;
  for (const auto& part : {found[1].str(), found[2].str()}) {
    if (std::regex_search(std::regex_replace(part, literal, "''"), nested)) return std::nullopt;
  }
  return fmt::format("{} FROM {} WHERE {}", of_row(found[1].str()), rows_of_arrays(parameters),
                     of_row(found[2].str()));
}

std::optional<std::string> bulk_select(std::string_view sql, int parameters) {
  static const std::regex form(R"(\s*(select\s(?:'[^']*'|[^'";])*);?\s*)", kForm);
  std::match_results<std::string_view::const_iterator> found;
  if (!readable(sql, parameters) || !std::regex_match(sql.begin(), sql.end(), found, form))
    return std::nullopt;
  return fmt::format("SELECT q.*, r.n FROM unnest({}) WITH ORDINALITY AS r({}, n), LATERAL ({}) AS q",
                     numbered("$", parameters), numbered("p", parameters), of_row(found[1].str()));
}

}  // namespace presetbridge::storage::postgres
