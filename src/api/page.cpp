#include "api/page.h"

#include <charconv>
#include <string>

namespace presetbridge::api {
namespace {

constexpr int kMaxLimit = 100;
constexpr std::string_view kCursorPrefix = "cur";

std::unexpected<Error> invalid(std::string field, std::string problem) {
  return fail("VALIDATION_FAILED", "The query has parameters that are not valid.",
              {{std::move(field), std::move(problem)}});
}

}  // namespace

Expected<storage::PageRequest> page_request(const Call& call) {
  storage::PageRequest page;
  if (const auto text = call.query_value("limit")) {
    const auto* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, page.limit);
    if (error != std::errc() || stop != end || page.limit < 1 || page.limit > kMaxLimit) {
      return invalid("limit", "must be a whole number from 1 to 100");
    }
  }
  if (const auto text = call.query_value("cursor")) {
    const auto before = parse_id(kCursorPrefix, *text);
    if (!before) return invalid("cursor", "is not a cursor that this list gave");
    page.before = *before;
  }
  return page;
}

net::HttpResponse page_response(json::array data, std::optional<std::int64_t> next) {
  json::value cursor = nullptr;
  if (next) cursor = format_id(kCursorPrefix, *next);
  return json_response(200, json::object{{"data", std::move(data)}, {"nextCursor", std::move(cursor)}});
}

}  // namespace presetbridge::api
