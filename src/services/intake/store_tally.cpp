#include "services/intake/store_tally.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "domain/product.h"
#include "services/stores/products.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {
namespace {

using storage::ProductRow;
using storage::StoreHour;
using storage::Tx;

constexpr std::size_t kMaxTopicBytes = 100;
constexpr std::int64_t kSeveral = -1;  // versions: what was looked up has to be looked up again

Timestamp hour_of(Timestamp at) {
  return std::chrono::floor<std::chrono::hours>(at);
}

// As platforms name their topics; what else a header may hold is not text for a database.
bool is_topic(std::string_view text) {
  return text.size() <= kMaxTopicBytes && std::ranges::all_of(text, [](char c) {
           return is_alphanumeric(c) || std::string_view("._/-").contains(c);
         });
}

// The next `most` of `all`.
template <class T>
std::span<const T> batch_of(const std::vector<T>& all, std::size_t from, std::size_t most) {
  return std::span<const T>(all).subspan(from, std::min(most, all.size() - from));
}

}  // namespace

SeenEvent seen(const domain::OrderEvent& event, SentWith with) {
  SeenEvent one{.topic = std::string(is_topic(with.topic) ? with.topic : ""),
                .products = {},
                .test = event.test,
                .origin = std::move(with.origin)};
  if (event.kind != domain::OrderEvent::Kind::order || event.sample) return one;
  for (const auto& line : event.lines) {
    if (!line.file_id.empty()) continue;  // no product of the store
    if (auto key = domain::product_key(line)) one.products.push_back({std::move(*key), line});
  }
  return one;
}

StoreTally::Store* StoreTally::store(IntegrationId id) {
  if (const auto found = stores_.find(id); found != stores_.end()) return &found->second;
  if (stores_.size() >= options_.most_stores) {
    ++dropped_;
    return nullptr;
  }
  return &stores_[id];
}

void StoreTally::count(Store& store, std::string_view what, std::int64_t events, Timestamp at) {
  const auto hour = hour_of(at);
  const auto found =
      std::ranges::find_if(store.counts, [&](const Count& c) { return c.hour == hour && c.what == what; });
  auto& one =
      found == store.counts.end() ? store.counts.emplace_back(hour, std::string(what), 0, at) : *found;
  one.events += events;
  one.last_at = std::max(one.last_at, at);
}

void StoreTally::accepted(const std::shared_ptr<const IntegrationSnapshot>& integration,
                          const SeenEvent& event, const Accepted& answer) {
  const Timestamp now = clock_.now();
  const std::lock_guard lock(mutex_);
  auto* const of = store(integration->id);
  if (of == nullptr) return;
  if (!event.direct) count(*of, storage::kAccepted, 1, now);
  if (answer.first_seen) {
    count(*of, storage::kOrder, 1, now);
    of->last_order = now;
  }
  if (answer.made_delivery) count(*of, storage::kDelivery, 1, now);
  if (!event.origin.empty()) of->origin = event.origin;
  if (!event.topic.empty()) {
    const auto topic = std::ranges::find(of->topics, event.topic, &Topic::name);
    if (topic != of->topics.end()) {
      topic->at = now;
    } else if (of->topics.size() < storage::kMaxTopics) {
      of->topics.push_back({event.topic, now});
    }
  }
  if (!answer.duplicate) note_products(*of, *integration, event, answer.first_seen && !event.test, now);
}

void StoreTally::note_products(Store& store, const IntegrationSnapshot& integration, const SeenEvent& event,
                               bool sold, Timestamp at) {
  if (event.products.empty()) return;
  if (store.products.empty()) store.version = integration.version;
  if (store.version != integration.version) store.version = kSeveral;
  for (const auto& [key, line] : event.products) {
    auto found = store.products.find(key);
    bool match = found == store.products.end() || store.version == kSeveral;
    if (found == store.products.end()) {
      if (products_ >= options_.most_products || store.products.size() >= options_.most_products_of_store) {
        ++dropped_;
        continue;
      }
      ++products_;
      found = store.products.try_emplace(key).first;
      found->second.integration = integration.id;
      found->second.key = key;
      found->second.first_seen_at = at;
    }
    auto& row = found->second;
    auto title = domain::product_title(line.title);
    match =
        match || std::tie(row.title, row.sku, row.product_id) != std::tie(title, line.sku, line.product_id);
    if (match) row.mapped = integration.rules.mappings->find(line) != nullptr;
    row.title = std::move(title);
    row.sku = line.sku;
    row.product_id = line.product_id;
    row.variant_id = line.variant_id;
    row.sold += sold ? line.quantity : 0;
    row.last_seen_at = at;
  }
}

void StoreTally::refused(IntegrationId integration, std::string_view code) {
  const Timestamp now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (auto* const of = store(integration)) count(*of, code, 1, now);
}

void StoreTally::start() {
  tasks_.start_loop(loop(), "count of what stores send");
}

void StoreTally::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> StoreTally::loop() {
  while (!tasks_.stopping()) {
    co_await tasks_.wait(options_.period);
    co_await flush();
  }
}

Task<void> StoreTally::flush() {
  Stores stores;
  std::int64_t not_counted = 0;
  {
    const std::lock_guard lock(mutex_);
    stores = std::exchange(stores_, {});
    products_ = 0;
    not_counted = std::exchange(dropped_, 0);
  }
  if (not_counted > 0) log_.warn("more came from stores than is counted", {{"notCounted", not_counted}});
  if (stores.empty()) co_return;
  std::unordered_map<IntegrationId, std::int64_t> versions;
  for (const auto& [id, store] : stores) {
    if (!store.products.empty()) versions[id] = store.version;
  }
  const bool written = co_await write_counts(stores) && co_await write_products(stores);
  if (!written) keep(std::move(stores));
  co_await match_changed(versions);
}

bool StoreTally::dropped(const Error& error, std::string_view what) {
  if (error.code != "INTERNAL_ERROR") return false;
  log_.error("what stores have sent could not be written", {{"what", what}, {"error", error.message}});
  return true;
}

Task<bool> StoreTally::write_counts(Stores& stores) {
  std::vector<IntegrationId> ids;
  for (const auto& [id, store] : stores) ids.push_back(id);
  std::ranges::sort(ids);
  for (std::size_t from = 0; from < ids.size(); from += options_.batch) {
    const auto batch = batch_of(ids, from, options_.batch);
    std::vector<StoreHour> hours;
    std::vector<storage::StoreOrder> orders;
    std::vector<storage::StoreTopic> topics;
    std::vector<storage::StoreOrigin> origins;
    for (const auto id : batch) {
      auto& store = stores.at(id);
      std::ranges::sort(store.counts, {}, [](const Count& c) { return std::tie(c.hour, c.what); });
      std::ranges::sort(store.topics, {}, &Topic::name);
      for (const auto& c : store.counts) hours.push_back({id, c.hour, c.what, c.events, c.last_at});
      if (store.last_order) orders.push_back({id, *store.last_order});
      for (const auto& topic : store.topics) topics.push_back({id, topic.name, topic.at});
      if (!store.origin.empty()) origins.push_back({id, store.origin, clock_.now()});
    }
    auto written = co_await async_db_.write(scheduler_, [&](Tx& tx) {
      if (!hours.empty()) add_store_hours(tx, hours);
      if (!orders.empty()) note_store_orders(tx, orders);
      if (!topics.empty()) note_store_topics(tx, topics);
      if (!origins.empty()) note_store_origins(tx, origins);
    });
    if (!written && !dropped(written.error(), "counts")) co_return false;
    for (const auto id : batch) {
      auto& store = stores.at(id);
      store.counts.clear();
      store.last_order.reset();
      store.topics.clear();
      store.origin.clear();
    }
  }
  co_return true;
}

Task<bool> StoreTally::write_products(Stores& stores) {
  std::vector<ProductRow> rows;
  for (auto& [id, store] : stores) {
    for (auto& [key, row] : store.products) rows.push_back(row);
  }
  std::ranges::sort(rows, {}, [](const ProductRow& row) { return std::tie(row.integration, row.key); });
  for (auto& row : rows) row.id = ids_.next();
  for (std::size_t from = 0; from < rows.size(); from += options_.batch) {
    const auto batch = batch_of(rows, from, options_.batch);
    auto written = co_await async_db_.write(scheduler_, [&](Tx& tx) { put_products(tx, batch); });
    if (!written && !dropped(written.error(), "products")) co_return false;
    for (const auto& row : batch) stores.at(row.integration).products.erase(row.key);
  }
  co_return true;
}

void StoreTally::keep(Stores stores) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, old] : stores) {
    auto* const now = store(id);
    if (now == nullptr) continue;
    for (const auto& c : old.counts) count(*now, c.what, c.events, c.last_at);
    if (old.last_order)
      now->last_order = std::max(now->last_order.value_or(*old.last_order), *old.last_order);
    if (now->origin.empty()) now->origin = std::move(old.origin);
    for (auto& topic : old.topics) {
      if (std::ranges::find(now->topics, topic.name, &Topic::name) == now->topics.end())
        now->topics.push_back(std::move(topic));
    }
    for (auto& [key, row] : old.products) {
      const auto [at, fresh] = now->products.try_emplace(key, row);
      if (fresh) {
        ++products_;
      } else {
        at->second.sold += row.sold;
        at->second.first_seen_at = row.first_seen_at;
      }
    }
    if (!old.products.empty()) now->version = kSeveral;
  }
}

Task<void> StoreTally::match_changed(const std::unordered_map<IntegrationId, std::int64_t>& looked_up) {
  std::vector<IntegrationId> ids;
  for (const auto& [id, version] : looked_up) ids.push_back(id);
  std::ranges::sort(ids);
  for (std::size_t from = 0; from < ids.size(); from += options_.batch) {
    const auto batch = batch_of(ids, from, options_.batch);
    const auto now =
        co_await async_db_.read(scheduler_, [&](Tx& tx) { return integration_versions(tx, batch); });
    if (!now) co_return;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if ((*now)[i] != looked_up.at(batch[i])) co_await match_products(async_db_, scheduler_, batch[i]);
    }
  }
}

}  // namespace presetbridge::services
