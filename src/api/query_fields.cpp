#include "api/query_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/sent_time.h"
#include "base/characters.h"

namespace presetbridge::api {

std::optional<std::string> QueryFields::optional_text(std::string_view name, std::size_t longest) {
  const auto text = call_.query_value(name);
  if (!text) return std::nullopt;
  if (text->empty() || characters(*text) > longest)
    problem(name, fmt::format("must have 1 to {} characters", longest));
  return std::string(*text);
}

std::optional<bool> QueryFields::optional_flag(std::string_view name) {
  const auto text = call_.query_value(name);
  if (!text) return std::nullopt;
  if (*text != "true" && *text != "false") problem(name, "must be true or false");
  return *text == "true";
}

std::optional<Timestamp> QueryFields::optional_time(std::string_view name) {
  const auto text = call_.query_value(name);
  if (!text) return std::nullopt;
  const auto time = parse_sent_time(*text);
  if (!time) problem(name, "must be a time like 2026-01-31T12:00:00Z");
  return time;
}

std::optional<std::string> QueryFields::optional_choice(std::string_view name,
                                                        std::span<const std::string_view> allowed) {
  const auto text = call_.query_value(name);
  if (!text) return std::nullopt;
  if (std::ranges::find(allowed, *text) == allowed.end())
    problem(name, fmt::format("must be one of {}", fmt::join(allowed, ", ")));
  return std::string(*text);
}

std::vector<std::string_view> QueryFields::parts(std::string_view name, std::size_t most) {
  std::vector<std::string_view> parts;
  const auto text = call_.query_value(name);
  if (!text) return parts;
  for (std::string_view rest = *text;;) {
    if (parts.size() == most) {
      problem(name, fmt::format("names more than {}", most));
      return {};
    }
    const auto end = std::min(rest.find(','), rest.size());
    parts.push_back(rest.substr(0, end));
    if (end == rest.size()) return parts;
    rest.remove_prefix(end + 1);
  }
}

void QueryFields::problem(std::string_view name, std::string problem) {
  problems_.push_back({std::string(name), std::move(problem)});
}

std::optional<Error> QueryFields::problems() const {
  if (problems_.empty()) return std::nullopt;
  return Error{"VALIDATION_FAILED", "The query has parameters that are not valid.", problems_};
}

}  // namespace presetbridge::api
