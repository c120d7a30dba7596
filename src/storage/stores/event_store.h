// Outbound events and their sends (spec 10.1): written in the transaction of the state change that they tell
// of, only where an active subscription wants the type. Leasing and recording of sends is in send_store.h.
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
// Of each of the accounts.
std::vector<std::vector<ActiveSubscription>> active_subscriptions(Tx& tx,
                                                                  std::span<const AccountId> accounts);
// Whether it wants events of this type from this integration.
bool wants(const ActiveSubscription& subscription, std::string_view event_type, IntegrationId integration);
// The same of an event that is of no store but of the whole account: one that is restricted to stores has
// none.
bool wants_of_account(const ActiveSubscription& subscription, std::string_view event_type);

struct EventRow {
  EventId id;
  AccountId account;
  DeliveryId delivery;  // none: the event is of no delivery
  std::int64_t sequence = 0;
  std::string type;
  std::string uuid;
  std::string body;  // exactly what is sent, and signed
  Timestamp created_at;
};
void insert_events(Tx& tx, std::span<const EventRow> rows);

// The users' names in the stored bodies of these deliveries' events are blank from now on (spec 9.6),
// whatever has been sent of them, and so is what receivers answered, who may have sent them back.
void blank_events(Tx& tx, std::span<const DeliveryId> deliveries);

// An event on its way to one subscription.
struct SendRow {
  std::int64_t id = 0;
  SubscriptionId subscription;
  EventId event;
  Timestamp due_at;
};
// Wakes the subscriptions too.
void insert_sends(Tx& tx, std::span<const SendRow> rows);

// What the store was told of a delivery, by each of its subscriptions; newest first, at most `limit`.
struct EventOfDelivery {
  EventId id;
  std::string type;
  Timestamp created_at;
  SubscriptionId subscription;  // none: nothing is kept of the sends
  std::string status;           // of the send
  std::int64_t attempts = 0;
  std::optional<std::int64_t> last_status_code;  // nothing: no attempt had an answer
  std::optional<Timestamp> next_attempt_at;      // nothing: there is none to come
};
std::vector<EventOfDelivery> find_events_of_delivery(Tx& tx, DeliveryId delivery, int limit);

}  // namespace presetbridge::storage
