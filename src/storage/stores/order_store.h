// Orders, as stores have sent them, deduplicated on (integration, order id) (spec 2.6).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "domain/order_summary.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct OrderRow {
  OrderId id;  // its delivery, if it has one, has the same value
  AccountId account;
  IntegrationId integration;
  std::string order_key;
  domain::OrderOutcome outcome = domain::OrderOutcome::stopped;
  std::string state;  // domain::encode(OrderState)
  std::int64_t unmapped = 0;
  Timestamp received_at;
  Timestamp updated_at;
  domain::OrderSummary summary =
      {};  // of `state`; empty or of an earlier state where an older program wrote the row
};
// Sets the state, and the summary of it.
void set_state(OrderRow& row, const domain::OrderState& state);
// Throws the error of decode_order_state() for a damaged state.
domain::OrderState state_of(const OrderRow& row);

// Returns for each whether it is new; an order that exists already stays as it is.
std::vector<bool> insert_orders(Tx& tx, std::span<const OrderRow> rows);
std::optional<OrderRow> find_order(Tx& tx, OrderId id);
// The integration of the order, without reading its state.
std::optional<IntegrationId> find_order_integration(Tx& tx, OrderId id);
std::optional<OrderRow> find_order_by_key(Tx& tx, IntegrationId integration, std::string_view order_key);
std::optional<OrderRow> lock_order_by_key(Tx& tx, IntegrationId integration, std::string_view order_key);
// Locks the orders that exist, in the order given; returns their ids.
struct OrderKey {
  IntegrationId integration;
  std::string_view order_key;
};
std::vector<OrderId> hold_orders(Tx& tx, std::span<const OrderKey> keys);
// The keys of orders that exist, in the order given. They refer to the texts that `keys` refer to.
std::vector<OrderKey> known_orders(Tx& tx, std::span<const OrderKey> keys);
// Locks and reads the orders that exist, in the order given.
std::vector<OrderRow> lock_orders_by_key(Tx& tx, std::span<const OrderKey> keys);
std::optional<OrderRow> lock_order(Tx& tx, OrderId id);
// The next order keys of the integration, in their order.
std::vector<std::string> find_order_keys_after(Tx& tx, IntegrationId integration, std::string_view after,
                                               std::size_t limit);
// Orders of the integration that have lines without a mapping, older than `before`, the newest first.
std::vector<OrderRow> find_unmapped_orders(Tx& tx, IntegrationId integration, OrderId before, int limit);
struct OrderName {
  std::string key;     // the store's id
  std::string number;  // as people see it; empty where the store gave none
  domain::OrderMarks marks;
};
// The name and marks of each order; empty where there is no such order.
std::vector<OrderName> find_order_names(Tx& tx, std::span<const OrderId> ids);
// Writes outcome, state, summary, unmapped and updated_at.
void update_order(Tx& tx, const OrderRow& row);
// Writes many, each once.
void update_orders(Tx& tx, std::span<const OrderRow> rows);
// A payload of a new order; `body` is compressed.
struct PayloadRow {
  OrderId order;
  Timestamp received_at;
  Blob body;
};
void insert_order_payloads(Tx& tx, std::span<const PayloadRow> rows);
// Replaces the payload that the order has, if any.
void put_order_payload(Tx& tx, OrderId id, Timestamp received_at, Blob body);
void delete_order_payloads(Tx& tx, std::span<const OrderId> ids);
struct StoredPayload {
  Timestamp received_at;
  std::vector<std::byte> body;  // compressed
};
std::optional<StoredPayload> find_order_payload(Tx& tx, OrderId id);
// The time at which it was received, without reading it.
std::optional<Timestamp> find_order_payload_time(Tx& tx, OrderId id);

}  // namespace presetbridge::storage
