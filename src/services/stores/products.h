// The products that a store's orders have named, and their matches (spec 9.2), for a merchant who maps them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/task.h"
#include "domain/mapping.h"
#include "identity/principal.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/product_store.h"

namespace presetbridge::services {

struct ProductView {
  storage::ProductRow row;
  std::vector<domain::Mapping> mapped_by;  // what a line with it comes to now; stale mappings left out
  std::int64_t skipped_orders = 0;  // stored orders that have it, and that it was no part of the delivery of
};
struct ProductFilter {
  std::optional<bool> mapped;
  std::string text;  // in title, SKU or an id, whatever the case; empty: all
};
struct ProductPage {
  storage::Page<ProductView> page;
  bool skipped_exact = true;  // else of the newest orders alone (services/stores/unmapped_orders.h)
};

// Thread-safe. Another account's integration, one outside the key's scope, and an archived one are NOT_FOUND.
class Products {
 public:
  explicit Products(storage::AsyncDatabase& async_db) : async_db_(async_db) {}
  // Those first seen last come first. Reads the store's products and mappings, which are bounded, and its
  // newest orders that are not mapped.
  Task<Expected<ProductPage>> list(Executor& executor, identity::Principal by, IntegrationId id,
                                   ProductFilter filter, storage::PageRequest page);

 private:
  storage::AsyncDatabase& async_db_;
};

// Matches all products of the store with its current mappings, in batches, and writes which are mapped.
// Called after the mappings have changed; the rest is done when the list is read.
Task<void> match_products(storage::AsyncDatabase& async_db, Executor& executor, IntegrationId id);

}  // namespace presetbridge::services
