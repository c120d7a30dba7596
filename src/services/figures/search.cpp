#include "services/figures/search.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "domain/search_words.h"
#include "services/delivery/view.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_list.h"
#include "storage/stores/overview_store.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {
namespace {

using identity::Permission;
using identity::Principal;
using storage::Tx;

constexpr int kMostStores = 500;
constexpr int kMostKeys = 500;
constexpr int kMostSubscriptions = 100;
constexpr int kMostMappings = 5'000;

// A search, in one transaction.
class Finder {
 public:
  Finder(Tx& tx, const Principal& by, const std::string& text, int limit)
      : tx_(tx), by_(by), text_(text), words_(text), limit_(limit) {
    for (auto& store : list_integrations(tx, by.account, {}, kMostStores)) {
      if (by.sees(store.id)) stores_.push_back(std::move(store));
    }
  }

  std::vector<FoundGroup> all() {
    if (by_.may(Permission::deliveries_read)) {
      deliveries();
      orders();
    }
    if (by_.may(Permission::presets_read)) presets();
    if (by_.may(Permission::integrations)) stores();
    if (by_.may(Permission::account)) keys();
    if (by_.may(Permission::subscriptions)) subscriptions();
    return std::move(found_);
  }

 private:
  void add(std::string_view kind, std::vector<FoundItem> items) {
    if (!items.empty()) found_.push_back({kind, std::move(items)});
  }
  bool is_named(const std::string& name) const { return !words_.empty() && words_.are_in(name); }
  std::string name_of(IntegrationId id) const {
    const auto store = std::ranges::find(stores_, id, &storage::IntegrationRow::id);
    return store == stores_.end() ? std::string() : store->name;
  }
  std::vector<IntegrationId> scope() const { return by_.integrations.ids(); }

  void deliveries() {
    std::vector<storage::DeliveryRow> rows;
    if (const auto id = parse_id<DeliveryKind>(text_)) {
      if (auto row = find_delivery(tx_, *id);
          row && row->account == by_.account && by_.sees(row->integration))
        rows.push_back(std::move(*row));
    } else {
      storage::DeliveryFilter filter{.account = by_.account, .search = text_};
      if (!by_.integrations.all()) filter.integrations = scope();
      filter.page.limit = limit_;
      rows = list_deliveries(tx_, filter).rows;
    }
    std::vector<FoundItem> items;
    for (const auto& one : summaries_of(tx_, std::move(rows), 0)) {
      const auto& number = one.order_number.empty() ? one.row.order_key : one.order_number;
      const auto& buyer = one.row.username.empty() ? one.row.email : one.row.username;
      items.push_back({to_string(one.row.id), number, buyer, std::string(domain::to_string(one.row.status))});
    }
    add("delivery", std::move(items));
  }

  void orders() {
    storage::OrderFilter filter{.account = by_.account,
                                .search = storage::read_search(tx_, by_.account, text_)};
    storage::PageRequest page{.limit = limit_};
    const auto shown = [&](const storage::ListedOrder& order) { return by_.sees(order.integration); };
    const auto found = list_orders(tx_, filter, page, shown).rows;
    std::vector<DeliveryId> ids;
    for (const auto& order : found) ids.emplace_back(order.id.value);
    const auto deliveries = find_delivery_standings(tx_, ids);
    std::vector<FoundItem> items;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& order = found[i];
      const auto& number = order.summary.number.empty() ? order.order_key : order.summary.number;
      items.push_back(
          {to_string(order.id), number, name_of(order.integration), std::string(to_string(order.outcome))});
      if (deliveries[i]) items.back().delivery_status = domain::to_string(deliveries[i]->status);
    }
    add("order", std::move(items));
  }

  void presets() {
    std::vector<FoundItem> items;
    std::set<std::string> seen;
    int left = kMostMappings;
    for (const auto& store : stores_) {
      if (left <= 0 || full(items)) break;
      left -= each_mapped_file(tx_, store.id, left, [&](const storage::MappedFile& file) {
        if (full(items) || !(is_named(file.name) || file.id == text_) || !seen.insert(file.id).second) return;
        items.push_back({file.id, file.name, file.kind, {}});
      });
    }
    add("preset", std::move(items));
  }

  void stores() {
    std::vector<FoundItem> items;
    for (const auto& store : stores_) {
      if (full(items) || !(is_named(store.name) || to_string(store.id) == text_)) continue;
      items.push_back({to_string(store.id), store.name, std::string(to_string(store.provider)),
                       store.active ? "active" : "inactive"});
    }
    add("store", std::move(items));
  }

  void keys() {
    std::vector<FoundItem> items;
    for (const auto& key : list_api_keys(tx_, by_.account, {.limit = kMostKeys}, {}).rows) {
      const bool same = to_string(key.id) == text_ || key.preview.ends_with(text_);
      if (full(items) || !(is_named(key.name) || same)) continue;
      items.push_back({to_string(key.id), key.name, key.preview, key.active ? "active" : "inactive"});
    }
    add("key", std::move(items));
  }

  void subscriptions() {
    std::vector<FoundItem> items;
    const auto newest = std::numeric_limits<std::int64_t>::max();
    for (const auto& row : list_subscriptions(tx_, by_.account, newest, kMostSubscriptions)) {
      const identity::IntegrationScope of(row.integrations);
      const bool seen = by_.integrations.includes(of);
      if (full(items) || !seen || !(is_named(row.name) || is_named(row.url) || to_string(row.id) == text_))
        continue;
      items.push_back({to_string(row.id), row.name.empty() ? row.url : row.name,
                       row.name.empty() ? std::string() : row.url, row.active ? "active" : "inactive"});
    }
    add("subscription", std::move(items));
  }

  bool full(const std::vector<FoundItem>& items) const {
    return items.size() >= static_cast<std::size_t>(limit_);
  }

  Tx& tx_;
  const Principal& by_;
  const std::string& text_;
  const domain::SearchWords words_;
  const int limit_;
  std::vector<storage::IntegrationRow> stores_;
  std::vector<FoundGroup> found_;
};

}  // namespace

Task<Expected<std::vector<FoundGroup>>> Search::find(Executor& executor, Principal by, std::string text,
                                                     int limit) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) { return Finder(tx, by, text, limit).all(); });
}

}  // namespace presetbridge::services
