#include "storage/stores/product_store.h"

#include <vector>

namespace presetbridge::storage {
namespace {

#define PDB_PRODUCT_COLUMNS                                                                                  \
  "integration_id, product_key, id, title, sku, product_id, variant_id, sold, first_seen_at, last_seen_at, " \
  "mapped"
constexpr Sql kPut{
    "INSERT INTO store_products (" PDB_PRODUCT_COLUMNS
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    " ON CONFLICT (integration_id, product_key) DO UPDATE SET title = excluded.title, sku = excluded.sku,"
    " product_id = excluded.product_id, variant_id = excluded.variant_id,"
    " sold = store_products.sold + excluded.sold, last_seen_at = excluded.last_seen_at,"
    " mapped = excluded.mapped"};
constexpr Sql kCount{"SELECT count(*) FROM store_products WHERE integration_id = $1"};
constexpr Sql kDeleteOldest{
    "DELETE FROM store_products WHERE integration_id = $1 AND product_key IN"
    " (SELECT product_key FROM store_products WHERE integration_id = $1"
    " ORDER BY last_seen_at, product_key LIMIT $2)"};
constexpr Sql kFind{"SELECT " PDB_PRODUCT_COLUMNS
                    " FROM store_products WHERE integration_id = $1 AND product_key > $2"
                    " ORDER BY product_key LIMIT $3"};
constexpr Sql kSetMapped{
    "UPDATE store_products SET mapped = $3 WHERE integration_id = $1 AND product_key = $2"};

}  // namespace

void put_products(Tx& tx, std::span<const ProductRow> products) {
  std::vector<Param> flat;
  flat.reserve(11 * products.size());
  std::vector<IntegrationId> stores;
  for (const auto& p : products) {
    flat.insert(flat.end(), {p.integration, p.key, p.id, p.title, p.sku, p.product_id, p.variant_id, p.sold,
                             p.first_seen_at, p.last_seen_at, p.mapped});
    if (stores.empty() || stores.back() != p.integration) stores.push_back(p.integration);
  }
  tx.exec_many(kPut, 11, flat);
  std::vector<std::int64_t> counts(stores.size());
  tx.query_each(kCount, 1, params_of(std::span<const IntegrationId>(stores)),
                [&](std::size_t n, const Row& r) { counts[n] = r.int64(0); });
  for (std::size_t n = 0; n < stores.size(); ++n) {
    if (counts[n] > kMaxProducts) tx.exec(kDeleteOldest, stores[n], counts[n] - kMaxProducts);
  }
}

std::vector<ProductRow> find_products(Tx& tx, IntegrationId integration, std::string_view after, int limit) {
  std::vector<ProductRow> rows;
  tx.query(kFind, integration, after, limit, [&](const Row& r) {
    rows.push_back({.integration = r.id<IntegrationId>(0),
                    .key = r.string(1),
                    .id = r.int64(2),
                    .title = r.string(3),
                    .sku = r.string(4),
                    .product_id = r.string(5),
                    .variant_id = r.string(6),
                    .sold = r.int64(7),
                    .first_seen_at = r.time(8),
                    .last_seen_at = r.time(9),
                    .mapped = r.flag(10)});
  });
  return rows;
}

void update_products_mapped(Tx& tx, std::span<const ProductRow> products) {
  std::vector<Param> flat;
  for (const auto& p : products) flat.insert(flat.end(), {p.integration, p.key, p.mapped});
  tx.update_each(kSetMapped, 3, flat);
}

}  // namespace presetbridge::storage
