// One search over all that an account has (spec 13.1), for somebody who types a few letters: each kind by
// what it is known by, and each of a bounded cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "identity/principal.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

struct FoundItem {
  std::string id;
  std::string title;
  std::string subtitle;              // may be empty
  std::string status;                // of the kind's own words; empty: it has none
  std::string delivery_status = {};  // of an order that has a delivery; empty: of all others
};
struct FoundGroup {
  std::string_view kind;  // delivery, order, preset, store, key, subscription
  std::vector<FoundItem> items;
};

// Thread-safe.
class Search {
 public:
  explicit Search(storage::AsyncDatabase& async_db) : async_db_(async_db) {}

  // At most `limit` of each kind that the caller may read, in this order; a kind of which nothing is found
  // has no group. Deliveries and orders: the newest, by the beginning of an order's number or id, of a
  // username or of an e-mail address, or by their id. The others by a part of their name: presets among the
  // first 5,000 mappings, keys among the newest 500.
  Task<Expected<std::vector<FoundGroup>>> find(Executor& executor, identity::Principal by, std::string text,
                                               int limit);

 private:
  storage::AsyncDatabase& async_db_;
};

}  // namespace presetbridge::services
