#include "storage/stores/event_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/json.hpp>

namespace presetbridge::storage {
namespace {

constexpr Sql kActiveSubscriptions{
    "SELECT id, event_types, integration_ids FROM webhook_subscriptions WHERE account_id = $1 AND active = "
    "1"};
constexpr Sql kInsertEvent{
    "INSERT INTO outbound_events (id, account_id, delivery_id, sequence, type, uuid, body, created_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"};
constexpr Sql kInsertDispatch{
    "INSERT INTO webhook_sends (id, subscription_id, event_id, status, due_at) VALUES ($1, $2, $3, "
    "'pending', $4)"};
constexpr Sql kBodiesOfDelivery{"SELECT id, body FROM outbound_events WHERE delivery_id = $1"};
constexpr Sql kReplaceBody{"UPDATE outbound_events SET body = $2, erased = 1 WHERE id = $1"};
constexpr Sql kLockDispatches{"SELECT id FROM webhook_sends WHERE event_id = $1 ORDER BY id <for_update>"};
constexpr Sql kBlankAnswers{"UPDATE webhook_attempts SET answer = '' WHERE send_id = $1 AND answer <> ''"};
constexpr Wake kWakeSubscription{
    2,
    {"UPDATE webhook_subscriptions SET ready_at = $2 WHERE id = $1 AND (ready_at IS NULL OR ready_at > $2)"}};

// Whether the comma-separated list holds the name. An empty list holds every name.
bool lists(std::string_view list, std::string_view name) {
  if (list.empty()) return true;
  while (true) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

// Returns the body of a delivery's event (services/delivery/event_body.h) without its usernames; nothing if it has none.
std::optional<std::string> without_usernames(std::string_view text) {
  auto body = boost::json::parse({text.data(), text.size()});
  auto* const delivery = body.as_object().if_contains("delivery");
  auto* const items = delivery ? delivery->as_object().if_contains("items") : nullptr;
  if (!items) return std::nullopt;
  bool named = false;
  for (auto& item : items->as_array()) {
    auto& username = item.as_object()["username"];
    named |= username.is_string();
    username = nullptr;
  }
  return named ? std::optional(boost::json::serialize(body)) : std::nullopt;
}

constexpr Sql kFindOfDelivery{
    "SELECT id, type, created_at FROM outbound_events WHERE delivery_id = $1 ORDER BY id DESC LIMIT $2"};
constexpr Sql kDispatchesOfEvent{
    "SELECT subscription_id, status, attempts, last_status_code, due_at FROM webhook_sends WHERE event_id = "
    "$1"
    " ORDER BY id DESC LIMIT $2"};

}  // namespace

std::vector<std::vector<ActiveSubscription>> active_subscriptions(Tx& tx,
                                                                  std::span<const AccountId> accounts) {
  std::vector<std::vector<ActiveSubscription>> subscriptions(accounts.size());
  tx.query_each(kActiveSubscriptions, 1, params_of(accounts), [&](std::size_t n, const Row& r) {
    subscriptions[n].push_back({r.id<SubscriptionId>(0), r.string(1), r.string(2)});
  });
  return subscriptions;
}

bool wants(const ActiveSubscription& s, std::string_view event_type, IntegrationId integration) {
  return lists(s.event_types, event_type) &&
         (s.integration_ids.empty() || lists(s.integration_ids, to_string(integration)));
}

bool wants_of_account(const ActiveSubscription& s, std::string_view event_type) {
  return lists(s.event_types, event_type) && s.integration_ids.empty();
}

void insert_events(Tx& tx, std::span<const EventRow> events) {
  std::vector<Param> flat;
  flat.reserve(8 * events.size());
  for (const auto& e : events) {
    flat.insert(flat.end(), {e.id, e.account, e.delivery ? Param(e.delivery) : Param(nullptr), e.sequence,
                             e.type, e.uuid, std::as_bytes(std::span(e.body)), e.created_at});
  }
  tx.exec_many(kInsertEvent, 8, flat);
}

void blank_events(Tx& tx, std::span<const DeliveryId> deliveries) {
  std::vector<EventId> events;
  std::vector<std::pair<EventId, std::string>> blanked;
  tx.query_each(kBodiesOfDelivery, 1, params_of(deliveries), [&](std::size_t, const Row& r) {
    events.push_back(r.id<EventId>(0));
    const Blob stored = r.bytes(1);
    auto body = without_usernames({reinterpret_cast<const char*>(stored.data()), stored.size()});
    if (body) blanked.emplace_back(r.id<EventId>(0), std::move(*body));
  });
  std::vector<Param> flat;
  for (const auto& [event, body] : blanked) flat.insert(flat.end(), {event, std::as_bytes(std::span(body))});
  tx.update_each(kReplaceBody, 2, flat);
  // An attempt that is recorded before these locks is blanked below. One that is recorded after them waits for this
  // transaction, and then finds the event erased. Ids grow with time, so the order of the events is that of the
  // dispatches, as record_results() locks them, but for events of two nodes at the same moment.
  std::ranges::sort(events);
  std::vector<Param> dispatches;
  tx.query_each(kLockDispatches, 1, params_of(std::span<const EventId>(events)),
                [&](std::size_t, const Row& r) { dispatches.emplace_back(r.int64(0)); });
  if (!dispatches.empty()) tx.exec_many(kBlankAnswers, 1, dispatches);
}

void insert_dispatches(Tx& tx, std::span<const DispatchRow> dispatches) {
  std::vector<Param> flat;
  flat.reserve(4 * dispatches.size());
  for (const auto& s : dispatches) {
    flat.insert(flat.end(), {s.id, s.subscription, s.event, s.due_at});
    tx.wake(kWakeSubscription, s.subscription, {s.due_at});
  }
  tx.exec_many(kInsertDispatch, 4, flat);
}

std::vector<EventOfDelivery> find_events_of_delivery(Tx& tx, DeliveryId delivery, int limit) {
  std::vector<EventOfDelivery> events;
  tx.query(kFindOfDelivery, delivery, limit, [&](const Row& r) {
    events.push_back({.id = r.id<EventId>(0), .type = r.string(1), .created_at = r.time(2)});
  });
  std::vector<Param> flat;
  for (const auto& event : events) flat.insert(flat.end(), {event.id, limit});
  std::vector<std::vector<EventOfDelivery>> dispatches(events.size());
  tx.query_each(kDispatchesOfEvent, 2, flat, [&](std::size_t n, const Row& r) {
    auto& dispatch = dispatches[n].emplace_back(events[n]);
    dispatch.subscription = r.id<SubscriptionId>(0);
    dispatch.status = r.string(1);
    dispatch.attempts = r.int64(2);
    dispatch.last_status_code = r.opt_int64(3);
    if (dispatch.status == "pending" || dispatch.status == "leased") dispatch.next_attempt_at = r.time(4);
  });
  std::vector<EventOfDelivery> found;
  for (std::size_t n = 0; n < events.size(); ++n) {
    if (dispatches[n].empty()) found.push_back(events[n]);
    found.insert(found.end(), dispatches[n].begin(), dispatches[n].end());
  }
  if (found.size() > static_cast<std::size_t>(limit)) found.resize(static_cast<std::size_t>(limit));
  return found;
}

}  // namespace presetbridge::storage
