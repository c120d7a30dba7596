#include "api/handlers/mappings_csv_handlers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/json_body.h"
#include "api/mapping_body.h"
#include "api/query_fields.h"
#include "api/unknown_name.h"
#include "base/csv.h"
#include "base/nearest_name.h"
#include "base/utf8.h"
#include "services/stores/mapping_preview.h"

namespace presetbridge::api {
namespace {

constexpr std::array<std::string_view, 6> kColumns{"matchType", "matchValue", "action",
                                                   "fileId",    "kind",       "fileName"};
constexpr std::size_t kMostErrors = 100;  // in one answer

// A problem, and its position in the table.
struct LineProblem {
  std::size_t line = 0;
  std::string column;  // empty: of the whole line
  std::string problem;
};
struct Table {
  std::vector<services::WantedMapping> wanted;
  std::vector<std::size_t> lines;  // the line of each
  std::vector<LineProblem> problems;
};

bool contains(const std::vector<std::string_view>& columns, std::string_view name) {
  return std::ranges::find(columns, name) != columns.end();
}

// The column that each field of the header names. A field that names none is a problem.
std::vector<std::string_view> columns_of(const CsvRecord& header, Table& table) {
  std::vector<std::string_view> columns;
  const auto problem = [&](std::string column, std::string text) {
    table.problems.push_back({header.line, std::move(column), std::move(text)});
  };
  for (const auto& name : header.fields) {
    const auto known = std::ranges::find(kColumns, name);
    if (known == kColumns.end()) {
      static const std::vector<std::string> kKnown(kColumns.begin(), kColumns.end());
      const auto nearest = nearest_name(name, kKnown);
      problem(is_utf8(name) ? shortened_name(name) : "",
              nearest ? fmt::format("is no column; is {} meant?", *nearest)
                      : fmt::format("is no column; there are {}", fmt::join(kColumns, ", ")));
      columns.emplace_back();
    } else {
      if (contains(columns, *known)) problem(name, "is there twice");
      columns.push_back(*known);
    }
  }
  for (const std::string_view needed : {"matchType", "matchValue"}) {
    if (!contains(columns, needed)) problem(std::string(needed), "is missing from the first line");
  }
  return columns;
}

void read_line(const CsvRecord& record, const std::vector<std::string_view>& columns, Table& table) {
  const auto problem = [&](std::string column, std::string text) {
    table.problems.push_back({record.line, std::move(column), std::move(text)});
  };
  if (record.fields.size() > columns.size())
    return problem("", "has more fields than the first line has columns");
  json::object fields;
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    const auto text = unguard_formula(record.fields[i]);
    if (!is_utf8(text)) return problem(std::string(columns[i]), "is not UTF-8");
    // An empty field counts as absent.
    if (!text.empty()) fields.emplace(columns[i], text);
  }
  JsonReading reading;
  JsonFields reader(fields, "", "", reading);
  table.wanted.push_back(read_mapping(reader));
  table.lines.push_back(record.line);
  for (auto& found : reading.problems) problem(std::move(found.field), std::move(found.problem));
}

Table read_table(std::string_view text, const services::MappingLimits& limits) {
  Table table;
  // Reads the first line, the mappings, and one record more, which is reported below as too many.
  const auto records = read_csv(text, {.records = limits.of_store + 2, .fields = kColumns.size() + 20});
  if (!records) {
    const auto& [line, column, what] = records.error();
    table.problems.push_back({line, column == 0 ? "" : fmt::format("{}", column), std::string(what)});
    return table;
  }
  if (records->empty()) {
    table.problems.push_back({1, "", "is missing: the first line names the columns"});
    return table;
  }
  const auto columns = columns_of(records->front(), table);
  if (!table.problems.empty()) return table;
  for (std::size_t i = 1; i < records->size(); ++i) {
    if (i > limits.of_store) {
      table.problems.push_back({(*records)[i].line, "",
                                fmt::format("is beyond {} mappings, the most of a store", limits.of_store)});
      break;
    }
    read_line((*records)[i], columns, table);
  }
  return table;
}

json::array to_json(const std::vector<LineProblem>& problems) {
  json::array errors;
  for (const auto& [line, column, problem] : problems) {
    if (errors.size() == kMostErrors) break;
    errors.push_back(json::object{{"line", line},
                                  {"column", column.empty() ? json::value(nullptr) : json::value(column)},
                                  {"problem", problem}});
  }
  return errors;
}

std::unexpected<Error> refuse(const std::vector<LineProblem>& problems) {
  std::vector<FieldProblem> details;
  for (const auto& [line, column, problem] : problems) {
    if (details.size() == kMostErrors) break;
    const auto of_column = column.empty() ? "" : ", column " + column;
    details.push_back({fmt::format("line {}{}", line, of_column), problem});
  }
  return fail("VALIDATION_FAILED",
              fmt::format("The table has {} problems; nothing of it was saved.", problems.size()),
              std::move(details));
}

bool is_csv(std::string_view content_type) {
  auto type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return net::same_field_name(type, "text/csv");
}

Task<Reply> export_csv(MappingsCsvDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  const auto set = co_await deps.integrations.mappings(call.executor(), call.principal, *id);
  if (!set) co_return std::unexpected(set.error());
  net::HttpResponse response;
  response.content_type = "text/csv; charset=utf-8";
  response.headers.add("Content-Disposition", "attachment; filename=\"mappings.csv\"");
  append_csv(response.body, kColumns);
  for (const auto& [mapping, written, stale, made_for] : set->mappings) {
    const std::array<std::string, 6> texts{std::string(domain::to_string(mapping.type)),
                                           guard_formula(written),
                                           std::string(domain::to_string(mapping.action)),
                                           guard_formula(mapping.file_id),
                                           guard_formula(mapping.file_kind),
                                           guard_formula(mapping.file_name)};
    append_csv(response.body,
               std::array<std::string_view, 6>{texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]});
  }
  co_return response;
}

Task<Reply> import_csv(MappingsCsvDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  QueryFields fields(call);
  const bool dry_run = fields.optional_flag("dryRun").value_or(false);
  if (auto error = fields.problems()) co_return std::unexpected(*error);
  if (call.request.body_too_large) co_return std::unexpected(payload_too_large(call.request));
  const auto before = co_await deps.integrations.mappings(call.executor(), call.principal, *id);
  if (!before) co_return std::unexpected(before.error());
  if (!is_csv(call.request.headers.get("Content-Type").value_or("")))
    co_return fail("UNSUPPORTED_MEDIA_TYPE", "The body must be a table, with Content-Type: text/csv.");

  const auto& limits = deps.integrations.limits();
  auto table = read_table(call.request.body, limits);
  const auto position = [&](std::size_t i) { return fmt::format("line {}", table.lines[i]); };
  services::CheckedMappings checked;
  if (table.problems.empty()) checked = services::check_mappings(table.wanted, limits, position);
  for (auto& [index, field, problem] : checked.problems)
    table.problems.push_back({table.lines[index], std::string(field), std::move(problem)});
  // A table does not say which mappings are stale: those that are as they are saved stay so.
  for (auto& wanted : table.wanted) wanted.stale = true;
  const bool good = table.problems.empty();
  if (!good && !dry_run) co_return refuse(table.problems);

  const auto diff = good ? services::diff_mappings(before->mappings, checked.rows) : services::MappingDiff();
  auto version = before->version;
  if (!dry_run) {
    const auto saved = co_await deps.integrations.replace_mappings(call.executor(), call.principal, *id,
                                                                   before->version, std::move(table.wanted));
    if (!saved) co_return std::unexpected(saved.error());
    version = saved->version;
  }
  co_return json_response(200, json::object{{"dryRun", dry_run},
                                            {"version", version},
                                            {"added", diff.added},
                                            {"changed", diff.changed},
                                            {"removed", diff.removed},
                                            {"errors", to_json(table.problems)},
                                            {"errorCount", table.problems.size()}});
}

}  // namespace

void add_mappings_csv_routes(Router& router, const MappingsCsvDeps& deps) {
  const auto access = Access::needs(Permission::integrations);
  router.add("GET", "/api/integrations/{integration}/mappings.csv", access, with(deps, export_csv));
  router.add("POST", "/api/integrations/{integration}/mappings.csv", access, with(deps, import_csv));
}

}  // namespace presetbridge::api
