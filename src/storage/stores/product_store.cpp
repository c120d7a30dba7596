#include "storage/stores/product_store.h"

#include <tuple>
#include <vector>

#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"integration_id", &ProductRow::integration, Update::key},
    Column{"product_key", &ProductRow::key, Update::key},
    Column{"id", &ProductRow::id, Update::no},
    Column{"title", &ProductRow::title, Update::no},
    Column{"sku", &ProductRow::sku, Update::no},
    Column{"product_id", &ProductRow::product_id, Update::no},
    Column{"variant_id", &ProductRow::variant_id, Update::no},
    Column{"sold", &ProductRow::sold, Update::no},
    Column{"first_seen_at", &ProductRow::first_seen_at, Update::no},
    Column{"last_seen_at", &ProductRow::last_seen_at, Update::no},
    Column{"mapped", &ProductRow::mapped},
};

constexpr Sql kPut =
    sql<"INSERT INTO store_products ", kInsertion<kColumns>,
        " ON CONFLICT (integration_id, product_key) DO UPDATE SET title = excluded.title, sku = excluded.sku,"
        " product_id = excluded.product_id, variant_id = excluded.variant_id,"
        " sold = store_products.sold + excluded.sold, last_seen_at = excluded.last_seen_at,"
        " mapped = excluded.mapped">;
constexpr Sql kCount{"SELECT count(*) FROM store_products WHERE integration_id = $1"};
constexpr Sql kDeleteOldest{
    "DELETE FROM store_products WHERE integration_id = $1 AND product_key IN"
    " (SELECT product_key FROM store_products WHERE integration_id = $1"
    " ORDER BY last_seen_at, product_key LIMIT $2)"};
constexpr Sql kFind =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM store_products WHERE integration_id = $1 AND product_key > $2 ORDER BY product_key LIMIT $3">;
constexpr Sql kSetMapped =
    sql<"UPDATE store_products SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;

}  // namespace

void put_products(Tx& tx, std::span<const ProductRow> products) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kInsertWidth<kColumns> * products.size());
  std::vector<IntegrationId> stores;
  for (const auto& p : products) {
    add_insert<kColumns>(flat, p, texts);
    if (stores.empty() || stores.back() != p.integration) stores.push_back(p.integration);
  }
  tx.exec_many(kPut, kInsertWidth<kColumns>, flat);
  std::vector<std::int64_t> counts(stores.size());
  tx.query_each(kCount, 1, params_of(std::span<const IntegrationId>(stores)),
                [&](std::size_t n, const Row& r) { counts[n] = r.int64(0); });
  for (std::size_t n = 0; n < stores.size(); ++n) {
    if (counts[n] > kMaxProducts) tx.exec(kDeleteOldest, stores[n], counts[n] - kMaxProducts);
  }
}

std::vector<ProductRow> find_products(Tx& tx, IntegrationId integration, std::string_view after, int limit) {
  std::vector<ProductRow> rows;
  tx.query(kFind, integration, after, limit,
           [&](const Row& r) { rows.push_back(read_row<ProductRow, kColumns>(r)); });
  return rows;
}

void update_products_mapped(Tx& tx, std::span<const ProductRow> products) {
  std::vector<Param> flat;
  Texts texts;
  for (const auto& p : products) add_update<kColumns>(flat, p, texts);
  tx.update_each(kSetMapped, kUpdateWidth<kColumns>, flat);
}

}  // namespace presetbridge::storage
