#include "services/stores/products.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "domain/product.h"
#include "services/stores/unmapped_orders.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {
namespace {

using identity::Principal;
using storage::ProductRow;
using storage::Tx;

domain::OrderLine line_of(const ProductRow& row) {
  domain::OrderLine line;
  line.sku = row.sku;
  line.product_id = row.product_id;
  line.variant_id = row.variant_id;
  line.title = row.title;
  return line;
}

domain::MappingIndex index_of(Tx& tx, IntegrationId id) {
  std::vector<domain::Mapping> current;
  for (auto& row : find_mappings(tx, id)) {
    if (!row.stale) current.push_back(std::move(row.mapping));
  }
  return domain::MappingIndex(current);
}

// The number of orders in which each product was skipped, by the product's key.
struct Skipped {
  std::unordered_map<std::string, std::int64_t> orders;
  bool exact = true;
};
Skipped skipped_orders(Tx& tx, IntegrationId id) {
  Skipped skipped;
  skipped.exact = each_unmapped_order(tx, id, [&](const storage::OrderRow&, domain::OrderState& state) {
    std::unordered_set<std::string> keys;
    for (const auto& line : state.lines) {
      if (line.mapped != domain::OrderLine::Mapped::nothing) continue;
      if (auto key = domain::product_key(line)) keys.insert(std::move(*key));
    }
    for (const auto& key : keys) ++skipped.orders[key];
  });
  return skipped;
}

// `text` in the form in which titles are compared.
std::string folded(std::string_view text) {
  return domain::normalise_match_value(domain::MatchType::title, text);
}
bool matches(const ProductRow& row, const std::string& wanted) {
  if (wanted.empty()) return true;
  return std::ranges::any_of(std::array{&row.title, &row.sku, &row.product_id, &row.variant_id},
                             [&](const auto* text) { return folded(*text).contains(wanted); });
}

}  // namespace

Task<Expected<ProductPage>> Products::list(Executor& executor, Principal by, IntegrationId id,
                                           ProductFilter filter, storage::PageRequest page) {
  bool outdated = false;
  auto found = co_await async_db_.read(executor, [&](Tx& tx) -> Expected<ProductPage> {
    const auto store = find_integration(tx, id);
    if (!store || store->account != by.account || store->archived_at || !by.sees(id))
      return fail("NOT_FOUND", "There is no such integration.");
    const auto index = index_of(tx, id);
    const auto text = folded(filter.text);
    auto rows = find_products(tx, id, "", storage::kMaxProducts);
    std::ranges::sort(rows, std::greater{}, &ProductRow::id);
    outdated = false;
    std::vector<ProductView> views;
    for (auto& row : rows) {
      const auto* mappings = index.find(line_of(row));
      outdated = outdated || row.mapped != (mappings != nullptr);
      row.mapped = mappings != nullptr;
      if (row.id >= page.before || static_cast<int>(views.size()) == page.fetch()) continue;
      if ((filter.mapped && *filter.mapped != row.mapped) || !matches(row, text)) continue;
      ProductView view{.row = std::move(row), .mapped_by = {}};
      if (mappings != nullptr) view.mapped_by = *mappings;
      views.push_back(std::move(view));
    }
    ProductPage shown{make_page(std::move(views), page, [](const auto& view) { return view.row.id; })};
    if (shown.page.rows.empty()) return shown;
    const auto skipped = skipped_orders(tx, id);
    shown.skipped_exact = skipped.exact;
    for (auto& view : shown.page.rows) {
      if (const auto orders = skipped.orders.find(view.row.key); orders != skipped.orders.end())
        view.skipped_orders = orders->second;
    }
    return shown;
  });
  if (found && outdated) co_await match_products(async_db_, executor, id);
  co_return found;
}

Task<void> match_products(storage::AsyncDatabase& async_db, Executor& executor, IntegrationId id) {
  constexpr int kBatch = 500;
  std::string after;
  bool more = true;
  while (more) {
    const auto next = co_await async_db.write(executor, [&](Tx& tx) -> std::optional<std::string> {
      // The lock lets a request that saves mappings match the products only after this transaction.
      if (!lock_integration(tx, id)) return std::nullopt;
      auto rows = find_products(tx, id, after, kBatch);
      if (rows.empty()) return std::nullopt;
      const auto index = index_of(tx, id);
      std::vector<ProductRow> changed;
      for (auto& row : rows) {
        const bool mapped = index.find(line_of(row)) != nullptr;
        if (row.mapped == mapped) continue;
        changed.push_back(row);
        changed.back().mapped = mapped;
      }
      if (!changed.empty()) update_products_mapped(tx, changed);
      return static_cast<int>(rows.size()) < kBatch ? std::nullopt : std::optional(rows.back().key);
    });
    more = next && *next;
    if (more) after = **next;
  }
}

}  // namespace presetbridge::services
