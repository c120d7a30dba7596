// The activity of stores in numbers (spec 9.1): events by the hour, the newest order, and the topics. Each
// store has rows of its own, which only services/intake/store_tally.h writes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "domain/order_event.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Events of one kind in one hour of a store.
struct StoreHour {
  IntegrationId integration;
  Timestamp hour;    // its beginning
  std::string what;  // kAccepted, kOrder, kDelivery, or the code of a refusal
  std::int64_t events = 0;
  Timestamp last_at;
};
inline constexpr std::string_view kAccepted = "accepted";  // answered 202
inline constexpr std::string_view kOrder = "order";        // an order that was new
inline constexpr std::string_view kDelivery = "delivery";  // a delivery was made
inline bool is_refusal(const StoreHour& hour) {
  return hour.what != kAccepted && hour.what != kOrder && hour.what != kDelivery;
}
// Adds to the stored numbers. `hours` are sorted by integration, hour and `what`, each once.
void add_store_hours(Tx& tx, std::span<const StoreHour> hours);
// Deletes at most `limit` rows of hours that began before `before`; returns how many.
std::int64_t delete_store_hours(Tx& tx, Timestamp before, int limit);

struct StoreOrder {
  IntegrationId integration;
  Timestamp at;
};
// A stored time that is later stays. `orders` are sorted by integration, each once.
void note_store_orders(Tx& tx, std::span<const StoreOrder> orders);

// The most topics of a store; further topics are not stored.
inline constexpr std::size_t kMaxTopics = 32;
struct StoreTopic {
  IntegrationId integration;
  std::string topic;
  Timestamp at;
};
// `topics` are sorted by integration and topic, each once.
void note_store_topics(Tx& tx, std::span<const StoreTopic> topics);

// A larger count is returned as this one: then there are many.
inline constexpr std::int64_t kMostOfStore = 1'000;

struct StoreOrigin {
  IntegrationId integration;
  std::string origin;  // an address with a slash at its end
  Timestamp at;
};
// The newest origin stays. `origins` are sorted by integration, each once.
void note_store_origins(Tx& tx, std::span<const StoreOrigin> origins);
struct StorePlace {
  domain::Provider provider;
  std::string origin;
};
// Nothing: the store has not named its origin.
std::optional<StorePlace> find_store_origin(Tx& tx, IntegrationId integration);

struct StoreActivity {
  std::optional<Timestamp> last_order_at;
  std::vector<std::string> topics;     // sorted
  std::vector<StoreHour> hours;        // one of each `what`: its first hour, sum and newest, since then
  std::int64_t failed = 0;             // deliveries that are failed now, kMostOfStore at most
  std::int64_t unmapped_products = 0;  // kMostOfStore at most
};
// The activity of each, in their order, with hours from `since` on. An integration costs its rows of these
// hours, and the deliveries and products that are counted.
std::vector<StoreActivity> find_store_activity(Tx& tx, std::span<const IntegrationId> integrations,
                                               Timestamp since);

}  // namespace presetbridge::storage
