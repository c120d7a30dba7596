// Outbound events and their dispatches to subscriptions (spec 10.1): written in the transaction of the
// state change that they report, only where an active subscription wants the type. dispatch_store.h leases and
// records dispatches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct ActiveSubscription {
  SubscriptionId id;
  std::string event_types;      // comma-separated; empty: all
  std::string integration_ids;  // likewise
};
// The active subscriptions of each account.
std::vector<std::vector<ActiveSubscription>> active_subscriptions(Tx& tx,
                                                                  std::span<const AccountId> accounts);
// Whether it wants events of this type from this integration.
bool wants(const ActiveSubscription& subscription, std::string_view event_type, IntegrationId integration);
// Whether it wants events of this type that belong to the whole account and to no store: a subscription
// that is restricted to stores gets none.
bool wants_of_account(const ActiveSubscription& subscription, std::string_view event_type);

struct EventRow {
  EventId id;
  AccountId account;
  DeliveryId delivery;  // none: the event is of no delivery
  std::int64_t sequence = 0;
  std::string type;
  std::string uuid;
  std::string body;  // the exact bytes that are sent, and signed
  Timestamp created_at;
};
void insert_events(Tx& tx, std::span<const EventRow> rows);

// Blanks the usernames in the stored bodies of these deliveries' events (spec 9.6), sent or not, and the
// stored answers of receivers, which may repeat them.
void blank_events(Tx& tx, std::span<const DeliveryId> deliveries);

// An event on its way to one subscription.
struct DispatchRow {
  std::int64_t id = 0;
  SubscriptionId subscription;
  EventId event;
  Timestamp due_at;
};
// Wakes the subscriptions too.
void insert_dispatches(Tx& tx, std::span<const DispatchRow> rows);

// An event of a delivery, as it stands with one of the subscriptions that get it.
struct EventOfDelivery {
  EventId id;
  std::string type;
  Timestamp created_at;
  SubscriptionId subscription;  // none: no dispatch is stored
  std::string status;           // of the dispatch
  std::int64_t attempts = 0;
  std::optional<std::int64_t> last_status_code;  // nothing: no attempt had an answer
  std::optional<Timestamp> next_attempt_at;      // nothing: there is none to come
};
// Newest first, at most `limit`.
std::vector<EventOfDelivery> find_events_of_delivery(Tx& tx, DeliveryId delivery, int limit);

}  // namespace presetbridge::storage
