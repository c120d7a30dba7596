#include "storage/stores/order_store.h"

#include <tuple>

#include "domain/order.h"
#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

Param number_key(const OrderRow& o, Texts& texts) {
  return texts.hold(domain::order_number_key(o.summary.number));
}

constexpr std::tuple kColumns{
    Column{"id", &OrderRow::id, Update::key},
    Column{"account_id", &OrderRow::account, Update::no},
    Column{"integration_id", &OrderRow::integration, Update::no},
    Column{"order_key", &OrderRow::order_key, Update::no},
    Column{"outcome", &OrderRow::outcome, kNamedOrUnknown<domain::read_order_outcome>},
    Column{"state", &OrderRow::state},
    Column{"unmapped", &OrderRow::unmapped},
    Column{"received_at", &OrderRow::received_at, Update::no},
    Column{"updated_at", &OrderRow::updated_at},
    Column{"order_number", [](auto& o) -> auto& { return o.summary.number; }, kNullIsEmpty},
    Column{"username", [](auto& o) -> auto& { return o.summary.username; }},
    Column{"email", [](auto& o) -> auto& { return o.summary.email; }},
    Column{"line_count", [](auto& o) -> auto& { return o.summary.lines; }},
    Column{"marks", [](auto& o) -> auto& { return o.summary.marks; }},
    Computed{"number_key", number_key, Select::no},
    // If the row's updated_at differs from this, an older program has written the row since, without the
    // summary.
    Computed{"listed_at", &OrderRow::updated_at, Select::no},
};
constexpr auto read_order = read_row<OrderRow, kColumns>;

constexpr Sql kInsert =
    sql<"INSERT INTO orders ", kInsertion<kColumns>, " ON CONFLICT (integration_id, order_key) DO NOTHING">;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM orders WHERE id = $1">;
constexpr Sql kFindIntegration{"SELECT integration_id FROM orders WHERE id = $1"};
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM orders WHERE id = $1 <for_update>">;
constexpr Sql kLockByKey = sql<"SELECT ", kSelected<kColumns>,
                               " FROM orders WHERE integration_id = $1 AND order_key = $2 <for_update>">;
constexpr Sql kFindByKey =
    sql<"SELECT ", kSelected<kColumns>, " FROM orders WHERE integration_id = $1 AND order_key = $2">;
constexpr Sql kHoldByKey{"SELECT id FROM orders WHERE integration_id = $1 AND order_key = $2 <for_update>"};
constexpr Sql kUpdate = sql<"UPDATE orders SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;
constexpr Sql kIsKnown{"SELECT 1 FROM orders WHERE integration_id = $1 AND order_key = $2"};
constexpr Sql kFindKeysAfter{
    "SELECT order_key FROM orders WHERE integration_id = $1 AND order_key > $2 ORDER BY order_key LIMIT $3"};
constexpr Sql kFindUnmapped = sql<"SELECT ", kSelected<kColumns>,
                                  " FROM orders WHERE integration_id = $1 AND id < $2 AND unmapped > 0"
                                  " ORDER BY id DESC LIMIT $3">;
// Reads the state only of rows without a number, which an older program wrote.
constexpr Sql kFindName{
    "SELECT order_number, CASE WHEN order_number IS NULL THEN state ELSE '' END, order_key, marks FROM orders"
    " WHERE id = $1"};
constexpr Sql kInsertPayload{"INSERT INTO order_payloads (order_id, received_at, body) VALUES ($1, $2, $3)"};
constexpr Sql kPutPayload{
    "INSERT INTO order_payloads (order_id, received_at, body) VALUES ($1, $2, $3)"
    " ON CONFLICT (order_id) DO UPDATE SET received_at = excluded.received_at, body = excluded.body"};

constexpr Sql kDeletePayload{"DELETE FROM order_payloads WHERE order_id = $1"};
constexpr Sql kFindPayload{"SELECT received_at, body FROM order_payloads WHERE order_id = $1"};
constexpr Sql kFindPayloadTime{"SELECT received_at FROM order_payloads WHERE order_id = $1"};

void note_change(Tx& tx, const OrderRow& o) {
  tx.changes().push_back({.kind = ChangeKind::order,
                          .account = o.account,
                          .id = o.id.value,
                          .integration = o.integration,
                          .word = std::string(to_string(o.outcome))});
}

}  // namespace

void set_state(OrderRow& row, const domain::OrderState& state) {
  row.state = encode(state);
  row.summary = domain::summarise(state);
}

domain::OrderState state_of(const OrderRow& row) {
  auto state = domain::decode_order_state(row.state);
  if (!state) throw Error(state.error());
  return std::move(*state);
}

std::vector<bool> insert_orders(Tx& tx, std::span<const OrderRow> orders) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kInsertWidth<kColumns> * orders.size());
  for (const auto& o : orders) add_insert<kColumns>(flat, o, texts);
  auto inserted = tx.insert_each(kInsert, kInsertWidth<kColumns>, flat);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (inserted[i]) note_change(tx, orders[i]);
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
std::vector<OrderName> find_order_names(Tx& tx, std::span<const OrderId> ids) {
  std::vector<OrderName> names(ids.size());
  tx.query_each(kFindName, 1, params_of(ids), [&](std::size_t n, const Row& r) {
    names[n].key = r.string(2);
    names[n].marks = domain::OrderMarks(r.int64(3));
    if (!r.is_null(0)) {
      names[n].number = r.string(0);
    } else if (const auto state = domain::decode_order_state(r.text(1))) {
      names[n].number = state->order_number;
    }
  });
  return names;
}
void update_order(Tx& tx, const OrderRow& o) {
  update_orders(tx, std::span(&o, 1));
}
void update_orders(Tx& tx, std::span<const OrderRow> orders) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kUpdateWidth<kColumns> * orders.size());
  for (const auto& o : orders) add_update<kColumns>(flat, o, texts);
  tx.update_each(kUpdate, kUpdateWidth<kColumns>, flat);
  for (const auto& o : orders) note_change(tx, o);
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
