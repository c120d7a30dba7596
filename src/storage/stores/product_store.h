// The products that a store's orders have named (spec 9.2), at most kMaxProducts of a store: those named
// longest ago are deleted first.
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
  std::string key;      // unique in the store
  std::int64_t id = 0;  // of the first put_products(); the key of lists
  std::string title;
  std::string sku;
  std::string product_id;
  std::string variant_id;
  std::int64_t sold = 0;  // written: what is added; read: the sum
  Timestamp first_seen_at;
  Timestamp last_seen_at;
  bool mapped = false;  // when the row was written: mappings may have changed since
};

// Inserts new products; adds to `sold` of the others, and replaces their names, last_seen_at and `mapped`.
// `products` are sorted by integration and key, each once. If a store then has more than kMaxProducts,
// those seen longest ago are deleted.
void put_products(Tx& tx, std::span<const ProductRow> products);
// The store's products with keys after `after` (empty: from the first), in the order of their keys, at most
// `limit`.
std::vector<ProductRow> find_products(Tx& tx, IntegrationId integration, std::string_view after, int limit);
// Writes `mapped`.
void update_products_mapped(Tx& tx, std::span<const ProductRow> products);

}  // namespace presetbridge::storage
