#include "storage/stores/store_activity_store.h"

#include <algorithm>
#include <unordered_map>

#include "storage/columns.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kAddHour{
    "INSERT INTO store_hours (integration_id, hour, what, events, last_at) VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT (integration_id, hour, what) DO UPDATE SET events = store_hours.events + excluded.events,"
    " last_at = CASE WHEN excluded.last_at > store_hours.last_at THEN excluded.last_at"
    " ELSE store_hours.last_at END"};
constexpr Sql kDeleteHours{
    "DELETE FROM store_hours WHERE (integration_id, hour, what) IN"
    " (SELECT integration_id, hour, what FROM store_hours WHERE hour < $1 ORDER BY hour LIMIT $2)"};
constexpr Sql kNoteOrder{
    "INSERT INTO store_orders (integration_id, last_at) VALUES ($1, $2) ON CONFLICT (integration_id)"
    " DO UPDATE SET last_at = excluded.last_at WHERE store_orders.last_at < excluded.last_at"};
constexpr Sql kTopics{
    "SELECT topic FROM store_topics WHERE integration_id = $1 ORDER BY integration_id, topic"};
constexpr Sql kNoteTopic{
    "INSERT INTO store_topics (integration_id, topic, last_at) VALUES ($1, $2, $3)"
    " ON CONFLICT (integration_id, topic) DO UPDATE SET last_at = excluded.last_at"};
constexpr Sql kNoteOrigin{
    "INSERT INTO store_origins (integration_id, origin, told_at)"
    " SELECT id, $2, CAST($3 AS BIGINT) FROM integrations WHERE id = $1 AND archived_at IS NULL"
    " ON CONFLICT (integration_id) DO UPDATE SET origin = excluded.origin, told_at = excluded.told_at"
    " WHERE store_origins.origin <> excluded.origin"};
constexpr Sql kOrigin{
    "SELECT integrations.provider, store_origins.origin FROM store_origins"
    " JOIN integrations ON integrations.id = store_origins.integration_id"
    " WHERE store_origins.integration_id = $1"};
constexpr Sql kLastOrder{"SELECT last_at FROM store_orders WHERE integration_id = $1"};
constexpr Sql kHours{
    "SELECT what, CAST(sum(events) AS BIGINT), max(last_at), min(hour) FROM store_hours"
    " WHERE integration_id = $1 AND hour >= $2 GROUP BY what"};
constexpr Sql kFailed{
    "SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE integration_id = $1 AND status = 'failed'"
    " AND integration_id + 0 > 0 LIMIT $2) AS counted"};
constexpr Sql kUnmapped{
    "SELECT count(*) FROM (SELECT 1 FROM store_products WHERE integration_id = $1 AND mapped = 0"
    " LIMIT $2) AS counted"};

std::vector<IntegrationId> stores_of(std::span<const StoreTopic> topics) {
  std::vector<IntegrationId> stores;
  for (const auto& t : topics) {
    if (stores.empty() || stores.back() != t.integration) stores.push_back(t.integration);
  }
  return stores;
}

}  // namespace

void add_store_hours(Tx& tx, std::span<const StoreHour> hours) {
  std::vector<Param> flat;
  for (const auto& h : hours) {
    flat.insert(flat.end(), {h.integration, h.hour, h.what, h.events, h.last_at});
    if (!is_refusal(h)) continue;
    tx.changes().push_back({.kind = ChangeKind::intake_refused,
                            .account = {},
                            .id = h.integration.value,
                            .integration = {},
                            .word = h.what});
  }
  tx.exec_many(kAddHour, 5, flat);
}

std::int64_t delete_store_hours(Tx& tx, Timestamp before, int limit) {
  return tx.exec(kDeleteHours, before, limit);
}

void note_store_orders(Tx& tx, std::span<const StoreOrder> orders) {
  std::vector<Param> flat;
  for (const auto& o : orders) flat.insert(flat.end(), {o.integration, o.at});
  tx.exec_many(kNoteOrder, 2, flat);
}

void note_store_topics(Tx& tx, std::span<const StoreTopic> topics) {
  const auto stores = stores_of(topics);
  std::unordered_map<IntegrationId, std::vector<std::string>> known;
  tx.query_each(kTopics, 1, params_of(std::span(stores)),
                [&](std::size_t n, const Row& r) { known[stores[n]].push_back(r.string(0)); });
  std::vector<Param> flat;
  for (const auto& t : topics) {
    auto& of_store = known[t.integration];
    if (std::ranges::find(of_store, t.topic) == of_store.end()) {
      if (of_store.size() >= kMaxTopics) continue;
      of_store.push_back(t.topic);
    }
    flat.insert(flat.end(), {t.integration, t.topic, t.at});
  }
  if (!flat.empty()) tx.exec_many(kNoteTopic, 3, flat);
}

void note_store_origins(Tx& tx, std::span<const StoreOrigin> origins) {
  std::vector<Param> flat;
  for (const auto& o : origins) flat.insert(flat.end(), {o.integration, o.origin, o.at});
  tx.exec_many(kNoteOrigin, 3, flat);
}

std::optional<StorePlace> find_store_origin(Tx& tx, IntegrationId integration) {
  return tx.one(kOrigin, integration, [](const Row& r) {
    return StorePlace{parsed<domain::Provider>(r.text(0), domain::parse_provider), r.string(1)};
  });
}

std::vector<StoreActivity> find_store_activity(Tx& tx, std::span<const IntegrationId> integrations,
                                               Timestamp since) {
  std::vector<StoreActivity> found(integrations.size());
  const auto ids = params_of(integrations);
  tx.query_each(kLastOrder, 1, ids, [&](std::size_t n, const Row& r) { found[n].last_order_at = r.time(0); });
  tx.query_each(kTopics, 1, ids,
                [&](std::size_t n, const Row& r) { found[n].topics.push_back(r.string(0)); });
  std::vector<Param> since_then;
  for (const auto id : integrations) since_then.insert(since_then.end(), {id, since});
  tx.query_each(kHours, 2, since_then, [&](std::size_t n, const Row& r) {
    found[n].hours.push_back({integrations[n], r.time(3), r.string(0), r.int64(1), r.time(2)});
  });
  std::vector<Param> counted;
  for (const auto id : integrations) counted.insert(counted.end(), {id, kMostOfStore});
  tx.query_each(kFailed, 2, counted, [&](std::size_t n, const Row& r) { found[n].failed = r.int64(0); });
  tx.query_each(kUnmapped, 2, counted,
                [&](std::size_t n, const Row& r) { found[n].unmapped_products = r.int64(0); });
  for (auto& one : found) std::ranges::sort(one.hours, {}, &StoreHour::what);
  return found;
}

}  // namespace presetbridge::storage
