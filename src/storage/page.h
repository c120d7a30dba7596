// One page of a list that runs from the newest id to the oldest (spec 8.2). The SQL is
//   SELECT … WHERE account_id=$1 AND id<$2 … ORDER BY id DESC LIMIT $3
// with $2 = before and $3 = fetch(): one row more than is shown, which exists where there is a next page.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace presetbridge::storage {

struct PageRequest {
  int limit = 50;
  std::int64_t before = std::numeric_limits<std::int64_t>::max();  // ids below this one
  int fetch() const { return limit + 1; }
};

template <class T>
struct Page {
  std::vector<T> rows;
  std::optional<std::int64_t> next;  // PageRequest::before of the next page; nothing: this is the last
};

// `rows` as fetched; `id_of(row)` is the list's id.
template <class T, class IdOf>
Page<T> make_page(std::vector<T> rows, const PageRequest& request, IdOf id_of) {
  Page<T> page{std::move(rows), std::nullopt};
  if (page.rows.size() > static_cast<std::size_t>(request.limit)) {
    page.rows.resize(static_cast<std::size_t>(request.limit));
    page.next = id_of(page.rows.back());
  }
  return page;
}

}  // namespace presetbridge::storage
