// Cursor pagination (spec 8.2): ?limit=1..100 (50) &cursor=…  ->  {"data":[…],"nextCursor":"…"|null}. Lists
// run from the newest id to the oldest; a cursor names the last id shown and stays good whatever is added
// meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "api/call.h"
#include "base/error.h"
#include "storage/page.h"

namespace presetbridge::api {

inline constexpr int kMaxLimit = 100;
inline constexpr std::string_view kCursorPrefix = "cur";

// The page of a list that takes no other parameters: VALIDATION_FAILED as that of QueryFields.
Expected<storage::PageRequest> page_request(const Call& call);

// A cursor as page_request() reads it.
std::string cursor_text(std::int64_t next);

net::HttpResponse page_response(boost::json::array data, std::optional<std::int64_t> next);
// The answer 200 of one page; `to_json` makes an element.
template <class T, class ToJson>
net::HttpResponse page_response(const storage::Page<T>& page, ToJson to_json) {
  boost::json::array data;
  data.reserve(page.rows.size());
  for (const T& row : page.rows) data.push_back(to_json(row));
  return page_response(std::move(data), page.next);
}

}  // namespace presetbridge::api
