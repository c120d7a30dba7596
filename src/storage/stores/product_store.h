// The products that a store's orders have named (spec 9.2), bounded: those named longest ago leave first.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

inline constexpr std::int64_t kMaxProducts = 5'000;  // of a store

struct ProductRow {
  IntegrationId integration;
  std::string key;      // what tells it from the store's others
  std::int64_t id = 0;  // of the list: rises
  std::string title;
  std::string sku;
  std::string product_id;
  std::string variant_id;
  std::int64_t sold = 0;  // to be added; of a row that was read: in all
  Timestamp first_seen_at;
  Timestamp last_seen_at;
  bool mapped = false;  // as it was when it was written: mappings may have changed since
};

// Adds what is new, and to `sold` of what is known, whose names and `mapped` are these from now on. Sorted by
// integration and key, each once. Of a store that then has more than kMaxProducts those seen longest ago go.
void put_products(Tx& tx, std::span<const ProductRow> products);
// The store's, kMaxProducts at most, in the order of their keys, from after `after`; empty: from the first.
std::vector<ProductRow> find_products(Tx& tx, IntegrationId integration, std::string_view after, int limit);
// Writes `mapped`.
void update_products_mapped(Tx& tx, std::span<const ProductRow> products);

}  // namespace presetbridge::storage
