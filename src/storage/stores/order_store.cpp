#include "storage/stores/order_store.h"

#include "domain/order.h"

namespace presetbridge::storage {
namespace {

#define PDB_ORDER_COLUMNS                                                                          \
  "id, account_id, integration_id, order_key, outcome, state, unmapped, received_at, updated_at, " \
  "order_number, username, email, line_count, marks"
constexpr Sql kInsert{"INSERT INTO orders (" PDB_ORDER_COLUMNS
                      ", number_key, listed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
                      "$13, $14, $15, $16) ON CONFLICT (integration_id, order_key) DO NOTHING"};
constexpr Sql kFind{"SELECT " PDB_ORDER_COLUMNS " FROM orders WHERE id = $1"};
constexpr Sql kFindIntegration{"SELECT integration_id FROM orders WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_ORDER_COLUMNS " FROM orders WHERE id = $1 <for_update>"};
constexpr Sql kLockByKey{"SELECT " PDB_ORDER_COLUMNS
                         " FROM orders WHERE integration_id = $1 AND order_key = $2 <for_update>"};
constexpr Sql kFindByKey{"SELECT " PDB_ORDER_COLUMNS
                         " FROM orders WHERE integration_id = $1 AND order_key = $2"};
constexpr Sql kHoldByKey{"SELECT id FROM orders WHERE integration_id = $1 AND order_key = $2 <for_update>"};
constexpr Sql kUpdate{
    "UPDATE orders SET outcome = $2, state = $3, unmapped = $4, updated_at = $5, order_number = $6,"
    " username = $7, email = $8, line_count = $9, marks = $10, number_key = $11, listed_at = $12"
    " WHERE id = $1"};
constexpr Sql kIsKnown{"SELECT 1 FROM orders WHERE integration_id = $1 AND order_key = $2"};
constexpr Sql kFindKeysAfter{
    "SELECT order_key FROM orders WHERE integration_id = $1 AND order_key > $2 ORDER BY order_key LIMIT $3"};
constexpr Sql kFindUnmapped{"SELECT " PDB_ORDER_COLUMNS
                            " FROM orders WHERE integration_id = $1 AND id < $2 AND unmapped > 0"
                            " ORDER BY id DESC LIMIT $3"};
// The state of rows of before alone, which have no number.
constexpr Sql kFindNumber{
    "SELECT order_number, CASE WHEN order_number IS NULL THEN state ELSE '' END FROM orders WHERE id = $1"};
constexpr Sql kInsertPayload{"INSERT INTO order_payloads (order_id, received_at, body) VALUES ($1, $2, $3)"};
constexpr Sql kPutPayload{
    "INSERT INTO order_payloads (order_id, received_at, body) VALUES ($1, $2, $3)"
    " ON CONFLICT (order_id) DO UPDATE SET received_at = excluded.received_at, body = excluded.body"};

constexpr Sql kDeletePayload{"DELETE FROM order_payloads WHERE order_id = $1"};
constexpr Sql kFindPayload{"SELECT received_at, body FROM order_payloads WHERE order_id = $1"};
constexpr Sql kFindPayloadTime{"SELECT received_at FROM order_payloads WHERE order_id = $1"};

OrderRow read_order(const Row& r) {
  return {r.id<OrderId>(0),
          r.id<AccountId>(1),
          r.id<IntegrationId>(2),
          r.string(3),
          domain::read_order_outcome(r.text(4)),
          r.string(5),
          r.int64(6),
          r.time(7),
          r.time(8),
          {.number = r.string_or_empty(9),
           .username = r.string(10),
           .email = r.string(11),
           .lines = r.int64(12),
           .marks = domain::OrderMarks(r.int64(13))}};
}

void note(Tx& tx, const OrderRow& o) {
  tx.changes().push_back({.kind = ChangeKind::order,
                          .account = o.account,
                          .id = o.id.value,
                          .integration = o.integration,
                          .word = std::string(to_string(o.outcome))});
}

// What the parameters of the rows look at.
std::vector<std::string> number_keys(std::span<const OrderRow> orders) {
  std::vector<std::string> keys;
  keys.reserve(orders.size());
  for (const auto& o : orders) keys.push_back(domain::order_number_key(o.summary.number));
  return keys;
}

}  // namespace

void set_state(OrderRow& row, const domain::OrderState& state) {
  row.state = encode(state);
  row.summary = domain::summarise(state);
}

std::vector<bool> insert_orders(Tx& tx, std::span<const OrderRow> orders) {
  const auto keys = number_keys(orders);
  std::vector<Param> flat;
  flat.reserve(16 * orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const auto& o = orders[i];
    flat.insert(flat.end(),
                {o.id, o.account, o.integration, o.order_key, to_string(o.outcome), o.state, o.unmapped,
                 o.received_at, o.updated_at, o.summary.number, o.summary.username, o.summary.email,
                 o.summary.lines, o.summary.marks.stored(), keys[i], o.updated_at});
  }
  auto inserted = tx.insert_each(kInsert, 16, flat);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (inserted[i]) note(tx, orders[i]);
  }
  return inserted;
}
std::optional<OrderRow> find_order(Tx& tx, OrderId id) {
  return tx.one(kFind, id, read_order);
}
std::optional<IntegrationId> find_order_integration(Tx& tx, OrderId id) {
  return tx.one(kFindIntegration, id, [](const Row& r) { return r.id<IntegrationId>(0); });
}
std::optional<OrderRow> lock_order(Tx& tx, OrderId id) {
  return tx.one(kLock, id, read_order);
}
std::optional<OrderRow> find_order_by_key(Tx& tx, IntegrationId integration, std::string_view order_key) {
  return tx.one(kFindByKey, integration, order_key, read_order);
}
std::optional<OrderRow> lock_order_by_key(Tx& tx, IntegrationId integration, std::string_view order_key) {
  return tx.one(kLockByKey, integration, order_key, read_order);
}
std::vector<OrderId> hold_orders(Tx& tx, std::span<const OrderKey> keys) {
  std::vector<Param> flat;
  for (const auto& key : keys) flat.insert(flat.end(), {key.integration, key.order_key});
  std::vector<OrderId> ids;
  tx.query_each(kHoldByKey, 2, flat, [&](std::size_t, const Row& r) { ids.push_back(r.id<OrderId>(0)); });
  return ids;
}
std::vector<OrderRow> lock_orders_by_key(Tx& tx, std::span<const OrderKey> keys) {
  std::vector<Param> flat;
  for (const auto& key : keys) flat.insert(flat.end(), {key.integration, key.order_key});
  std::vector<OrderRow> rows;
  tx.query_each(kLockByKey, 2, flat, [&](std::size_t, const Row& r) { rows.push_back(read_order(r)); });
  return rows;
}
std::vector<OrderKey> known_orders(Tx& tx, std::span<const OrderKey> keys) {
  std::vector<Param> flat;
  for (const auto& key : keys) flat.insert(flat.end(), {key.integration, key.order_key});
  std::vector<bool> known(keys.size());
  tx.query_each(kIsKnown, 2, flat, [&](std::size_t n, const Row&) { known[n] = true; });
  std::vector<OrderKey> found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (known[i]) found.push_back(keys[i]);
  }
  return found;
}
std::vector<std::string> find_order_keys_after(Tx& tx, IntegrationId integration, std::string_view after,
                                               std::size_t limit) {
  std::vector<std::string> keys;
  tx.query(kFindKeysAfter, integration, after, static_cast<std::int64_t>(limit),
           [&](const Row& r) { keys.push_back(r.string(0)); });
  return keys;
}
std::vector<OrderRow> find_unmapped_orders(Tx& tx, IntegrationId integration, OrderId before, int limit) {
  std::vector<OrderRow> rows;
  tx.query(kFindUnmapped, integration, before, limit, [&](const Row& r) { rows.push_back(read_order(r)); });
  return rows;
}
std::vector<std::string> find_order_numbers(Tx& tx, std::span<const OrderId> ids) {
  std::vector<std::string> numbers(ids.size());
  tx.query_each(kFindNumber, 1, params_of(ids), [&](std::size_t n, const Row& r) {
    if (!r.is_null(0)) {
      numbers[n] = r.string(0);
    } else if (const auto state = domain::decode_order_state(r.text(1))) {
      numbers[n] = state->order_number;
    }
  });
  return numbers;
}
void update_order(Tx& tx, const OrderRow& o) {
  update_orders(tx, std::span(&o, 1));
}
void update_orders(Tx& tx, std::span<const OrderRow> orders) {
  const auto keys = number_keys(orders);
  std::vector<Param> flat;
  flat.reserve(12 * orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const auto& o = orders[i];
    flat.insert(flat.end(), {o.id, to_string(o.outcome), o.state, o.unmapped, o.updated_at, o.summary.number,
                             o.summary.username, o.summary.email, o.summary.lines, o.summary.marks.stored(),
                             keys[i], o.updated_at});
  }
  tx.update_each(kUpdate, 12, flat);
  for (const auto& o : orders) note(tx, o);
}
void insert_order_payloads(Tx& tx, std::span<const PayloadRow> payloads) {
  std::vector<Param> flat;
  flat.reserve(3 * payloads.size());
  for (const auto& p : payloads) flat.insert(flat.end(), {p.order, p.received_at, p.body});
  tx.exec_many(kInsertPayload, 3, flat);
}
void put_order_payload(Tx& tx, OrderId id, Timestamp received_at, Blob body) {
  tx.exec(kPutPayload, id, received_at, body);
}

void delete_order_payloads(Tx& tx, std::span<const OrderId> ids) {
  tx.exec_many(kDeletePayload, 1, params_of(ids));
}
std::optional<StoredPayload> find_order_payload(Tx& tx, OrderId id) {
  return tx.one(kFindPayload, id, [](const Row& r) {
    const Blob body = r.bytes(1);
    return StoredPayload{r.time(0), {body.begin(), body.end()}};
  });
}
std::optional<Timestamp> find_order_payload_time(Tx& tx, OrderId id) {
  return tx.one(kFindPayloadTime, id, [](const Row& r) { return r.time(0); });
}

}  // namespace presetbridge::storage
