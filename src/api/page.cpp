#include "api/page.h"

#include "api/query_fields.h"

namespace presetbridge::api {

Expected<storage::PageRequest> page_request(const Call& call) {
  QueryFields fields(call);
  const auto page = fields.page();
  if (auto error = fields.problems()) return std::unexpected(std::move(*error));
  return page;
}

std::string cursor_text(std::int64_t next) {
  return format_id(kCursorPrefix, next);
}

net::HttpResponse page_response(json::array data, std::optional<std::int64_t> next) {
  json::value cursor = nullptr;
  if (next) cursor = cursor_text(*next);
  return json_response(200, json::object{{"data", std::move(data)}, {"nextCursor", std::move(cursor)}});
}

}  // namespace presetbridge::api
