// Orders: what a store told us, deduplicated on (integration, order id) (spec 2.6).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct OrderRow {
  OrderId id;  // its delivery, if it has one, has the same value
  AccountId account;
  IntegrationId integration;
  std::string order_key;
  std::string outcome;  // delivery, no_mapped_items, awaiting_payment, stopped, inactive
  std::string state;    // domain::encode(OrderState)
  std::int64_t unmapped = 0;
  Timestamp received_at;
  Timestamp updated_at;
  std::string order_number;  // what people see (spec 9.1); empty: the store gave none, or a row of before
};

// For each whether it is new; one that exists already is left alone.
std::vector<bool> insert_orders(Tx& tx, std::span<const OrderRow> rows);
std::optional<OrderRow> find_order(Tx& tx, OrderId id);
std::optional<OrderRow> lock_order_by_key(Tx& tx, IntegrationId integration, std::string_view order_key);
// Locks those that there are, in the order given; which.
struct OrderKey {
  IntegrationId integration;
  std::string_view order_key;
};
std::vector<OrderId> hold_orders(Tx& tx, std::span<const OrderKey> keys);
std::optional<OrderRow> lock_order(Tx& tx, OrderId id);
// Writes outcome, state, unmapped and updated_at.
void update_order(Tx& tx, const OrderRow& row);
// Of new orders. `body` is compressed.
struct PayloadRow {
  OrderId order;
  Timestamp received_at;
  Blob body;
};
void insert_order_payloads(Tx& tx, std::span<const PayloadRow> rows);
// Replaces an earlier one.
void put_order_payload(Tx& tx, OrderId id, Timestamp received_at, Blob body);
void delete_order_payload(Tx& tx, OrderId id);

}  // namespace presetbridge::storage
