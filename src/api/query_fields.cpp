#include "api/query_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "api/page.h"
#include "api/sent_search.h"
#include "api/sent_time.h"
#include "base/utf8.h"

namespace presetbridge::api {

storage::PageRequest QueryFields::page() {
  storage::PageRequest page;
  if (const auto text = call_.query_value("limit")) {
    const auto* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, page.limit);
    if (error != std::errc() || stop != end || page.limit < 1 || page.limit > kMaxLimit)
      problem("limit", fmt::format("must be a whole number from 1 to {}", kMaxLimit));
  }
  if (const auto text = call_.query_value("cursor")) {
    const auto before = parse_id(kCursorPrefix, *text);
    if (!before) problem("cursor", "is not a cursor that this list gave");
    page.before = before.value_or(page.before);
  }
  return page;
}

std::optional<std::string> QueryFields::optional_text(std::string_view name, std::size_t longest) {
  const auto text = call_.query_value(name);
  if (!text) return std::nullopt;
  if (text->empty() || characters(*text) > longest)
    problem(name, fmt::format("must have 1 to {} characters", longest));
  return std::string(*text);
}

std::string QueryFields::text(std::string_view name, std::size_t longest) {
  const auto text = call_.query_value(name).value_or("");
  if (characters(text) > longest) problem(name, fmt::format("must have at most {} characters", longest));
  return std::string(text);
}

std::optional<std::string> QueryFields::optional_search(std::string_view name, std::size_t longest) {
  const auto text = optional_text(name, longest);
  if (!text || text->empty()) return std::nullopt;
  auto search = parse_sent_search(*text);
  if (!search) problem(name, std::string(kNoSentSearch));
  return search;
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
  // A query writes a space as +.
  const bool plus = text->contains(' ');
  if (!time) problem(name, fmt::format("{}{}", kNoSentTime, plus ? "; write its + as %2B" : ""));
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
  return invalid_query(problems_);
}

}  // namespace presetbridge::api
