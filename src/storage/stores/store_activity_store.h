// What stores have sent, as numbers (spec 9.1): by the hour, the newest order, and the topics. Rows of their
// own for each store, which only services/intake/store_tally.h writes.
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
// Adds to what there is. Sorted by all of its key, each once.
void add_store_hours(Tx& tx, std::span<const StoreHour> hours);
// Of hours that began before; returns how many were deleted.
std::int64_t delete_store_hours(Tx& tx, Timestamp before, int limit);

struct StoreOrder {
  IntegrationId integration;
  Timestamp at;
};
// A later time stays. Sorted, each once.
void note_store_orders(Tx& tx, std::span<const StoreOrder> orders);

// Of a store; a topic beyond them is not kept.
inline constexpr std::size_t kMaxTopics = 32;
struct StoreTopic {
  IntegrationId integration;
  std::string topic;
  Timestamp at;
};
// Sorted by integration and topic, each once.
void note_store_topics(Tx& tx, std::span<const StoreTopic> topics);

// Enough to tell that there are many: a larger count is this one.
inline constexpr std::int64_t kMostOfStore = 1'000;

struct StoreOrigin {
  IntegrationId integration;
  std::string origin;  // an address with a slash at its end
  Timestamp at;
};
// The newest stays. Sorted, each once.
void note_store_origins(Tx& tx, std::span<const StoreOrigin> origins);
struct StorePlace {
  domain::Provider provider;
  std::string origin;
};
// Nothing: it has not said where it is.
std::optional<StorePlace> find_store_origin(Tx& tx, IntegrationId integration);

struct StoreActivity {
  std::optional<Timestamp> last_order_at;
  std::vector<std::string> topics;     // sorted
  std::vector<StoreHour> hours;        // one of each `what`: its first hour, sum and newest, since then
  std::int64_t failed = 0;             // deliveries that are failed now, kMostOfStore at most
  std::int64_t unmapped_products = 0;  // kMostOfStore at most
};
// Of each, in their order. Costs an integration as much as 24 hours of causes and what is counted.
std::vector<StoreActivity> find_store_activity(Tx& tx, std::span<const IntegrationId> integrations,
                                               Timestamp since);

}  // namespace presetbridge::storage
