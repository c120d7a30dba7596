#include "storage/testing/old_deliveries.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "base/id_time.h"

namespace presetbridge::storage::testing {
namespace {

constexpr std::int64_t kBatch = 20'000;

// The i-th delivery's id is $first + i * $stride. The rows that belong to it have the ids that follow: 1
// its customer, 2 its item, 3 its ledger entry, 4 and 5 its events, 6 its timeline's entry, from 16 on 256
// rows of webhook_sends and from 512 on their attempts. The i-th delivery is for the (i % customers)-th
// customer, who is made with the i-th delivery if i < customers.
#define PDB_NUMBERS(from, to) \
  "n (i) AS (SELECT CAST(" from " AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " to ")"
#define PDB_STORES                                                                                 \
  "stores AS (SELECT integrations.id AS id, accounts.id AS account_id, accounts.cloud_account_id," \
  " row_number() OVER (ORDER BY integrations.id) - 1 AS place FROM integrations JOIN accounts"     \
  " ON accounts.id = integrations.account_id WHERE accounts.cloud_account_id IS NOT NULL)"
#define PDB_SUBSCRIPTIONS                                                                        \
  "(SELECT id, account_id, row_number() OVER (PARTITION BY account_id ORDER BY id) - 1 AS place" \
  " FROM webhook_subscriptions WHERE active = 1)"
// The time in an id (base/ids.h).
#define PDB_TIME(id) "1704067200000 + ((" id ") >> 22)"

constexpr Sql kCountStores{
    "SELECT count(*) FROM integrations JOIN accounts ON accounts.id = integrations.account_id"
    " WHERE accounts.cloud_account_id IS NOT NULL"};

// Parameters of kCustomers and kOrders: from, to, first, stride, stores; of kOrders also customers
constexpr Sql kCustomers{
    "INSERT INTO customers (id, cloud_account_id, username_key, cloud_user_id, friendship, job_class, due_at,"
    " fence) WITH RECURSIVE " PDB_NUMBERS(
        "$1",
        "$2") ", " PDB_STORES
              " SELECT $3 + i * $4 + 1, cloud_account_id, 'old-' || (1000000000 + i), 'u-old-' || "
              "(1000000000 + i),"
              " 'friends', 1, " PDB_TIME("$3 + i * $4") ", 1 FROM n JOIN stores ON stores.place = i % $5"};
constexpr Sql kOrders{
    "INSERT INTO orders (id, account_id, integration_id, order_key, outcome, state, received_at, updated_at,"
    " order_number, number_key, username, email, line_count, listed_at)"
    " WITH RECURSIVE " PDB_NUMBERS(
        "$1", "$2") ", " PDB_STORES
                    " SELECT $3 + i * $4, account_id, id, 'OLD-' || (1000000000 + i), 'delivery',"
                    " '{\"v\":1,\"told\":\"deliver\",\"seen\":true,\"email\":\"old@example.com\","
                    "\"rawUsername\":\"old-' ||"
                    " (1000000000 + i % $6) || '\",\"username\":\"old-' || (1000000000 + i % $6) ||"
                    " '\",\"lines\":[{\"id\":\"1\",\"sku\":\"SKU-1\",\"title\":\"Plexi Lead\"}]}',"
                    " " PDB_TIME("$3 + i * $4") ", " PDB_TIME(
                        "$3 + i * $4") ", '#' || (1000000000 + i), CAST(1000000000 + i AS TEXT), 'old-' ||"
                                       " (1000000000 + i % $6), 'old@example.com', 1, " PDB_TIME(
                                           "$3 + i * $4") " FROM n JOIN stores ON stores.place = i % $5"};
// Parameters of kDeliveries and kItems: ids from, to; first, stride, customers
constexpr Sql kDeliveries{
    "INSERT INTO deliveries (id, account_id, integration_id, order_key, status, message, target_username,"
    " raw_username, customer_email, cloud_account_id, customer_id, open, attempt_count, sequence, version,"
    " created_at, updated_at, completed_at, counted_version)"
    " SELECT o.id, o.account_id, o.integration_id, o.order_key, 'completed',"
    " 'All files were shared with the customer.', 'old-' || (1000000000 + (o.id - $3) / $4 % $5),"
    " 'old-' || (1000000000 + (o.id - $3) / $4 % $5), 'old@example.com', accounts.cloud_account_id,"
    " $3 + (o.id - $3) / $4 % $5 * $4 + 1, 0, 1, 2, 3, o.received_at, o.received_at + 300, o.received_at + "
    "300, 3"
    " FROM orders o JOIN accounts ON accounts.id = o.account_id WHERE o.id >= $1 AND o.id < $2"};
constexpr Sql kItems{
    "INSERT INTO delivery_items (delivery_id, file_id, id, account_id, kind, name, matched_by, quantity, "
    "lines,"
    " status, customer_id, intent_key, spent, shared_at)"
    " SELECT id, 'file-' || (1 + (id - $3) / $4 / $5), id + 2, account_id, 'preset', 'Plexi Lead', 'sku', 1,"
    " '[\"1\"]', 'shared', customer_id, 'itm_' || id || '-1', 1, completed_at"
    " FROM deliveries WHERE id >= $1 AND id < $2"};
// Parameters of all others: ids from, to
constexpr Sql kTimeline{
    "INSERT INTO delivery_timeline (delivery_id, id, at, kind, actor, status, message)"
    " SELECT id, id + 6, completed_at, 'attempt', 'system', status, message"
    " FROM deliveries WHERE id >= $1 AND id < $2"};
constexpr Sql kLedger{
    "INSERT INTO ledger (account_id, id, at, kind, credits, item_id, note)"
    " SELECT account_id, id + 3, completed_at, 'spend', 1, id + 2, 'shared Plexi Lead'"
    " FROM deliveries WHERE id >= $1 AND id < $2"};
constexpr Sql kEvents{
    "INSERT INTO outbound_events (id, account_id, delivery_id, sequence, type, uuid, body, created_at)"
    " SELECT e.id, e.account_id, e.delivery_id, e.sequence, e.type, e.uuid,"
    " CAST('{\"id\":\"' || e.uuid || '\",\"type\":\"' || e.type ||"
    " '\",\"createdAt\":\"2026-11-21T21:45:39.851Z\",\"integrationId\":\"int_0akvg421c0003\",\"deliveryId\":"
    "\"del_0akvg"
    "422g0000\",\"delivery\":{\"orderId\":\"' || e.order_key || "
    "'\",\"eventId\":\"oev_142aacfa0d0556f1653981a85b595c24\","
    "\"message\":\"All files were shared with the customer.\",\"sequence\":' || e.sequence || '}}' AS "
    "<bytes>),"
    " e.created_at FROM"
    " (SELECT d.id + 3 + s.sequence AS id, d.account_id, d.id AS delivery_id, s.sequence, s.type, "
    "d.order_key,"
    " d.created_at, '00000000-0000-4000-8' || s.sequence || '00-' || (100000000000 + d.id % 800000000000) AS "
    "uuid"
    " FROM deliveries d CROSS JOIN (SELECT 1 AS sequence, 'delivery.queued' AS type"
    " UNION ALL SELECT 2, 'delivery.completed') AS s WHERE d.id >= $1 AND d.id < $2 AND EXISTS"
    " (SELECT 1 FROM webhook_subscriptions w WHERE w.account_id = d.account_id AND w.active = 1)) AS e"};
constexpr Sql kDispatches{
    "INSERT INTO webhook_sends (id, subscription_id, event_id, status, attempts, due_at, fence)"
    " SELECT e.delivery_id + 16 + (e.sequence - 1) * 128 + w.place, w.id, e.id, 'succeeded', 1, "
    "e.created_at, 1"
    " FROM outbound_events e JOIN " PDB_SUBSCRIPTIONS
    " AS w ON w.account_id = e.account_id WHERE e.id >= $1 AND e.id < $2"};
constexpr Sql kAttempts{
    "INSERT INTO webhook_attempts (subscription_id, id, send_id, event_id, at, status_code, duration_ms,"
    " outcome, answer) SELECT subscription_id, id + 496, id, event_id, due_at, 200, 12, 'succeeded', 'ok'"
    " FROM webhook_sends WHERE id >= $1 AND id < $2"};
constexpr Sql kSpend{
    "UPDATE accounts SET"
    " granted = granted + (SELECT count(*) FROM ledger WHERE ledger.account_id = accounts.id AND ledger.id "
    ">= $1"
    " AND ledger.id < $2),"
    " spent = spent + (SELECT count(*) FROM ledger WHERE ledger.account_id = accounts.id AND ledger.id >= $1"
    " AND ledger.id < $2)"};

}  // namespace

void insert_old_deliveries(Database& database, std::int64_t count, Timestamp now) {
  if (count <= 0) return;
  std::int64_t stores = 0;
  database.read(
      [&](Tx& tx) { stores = tx.one(kCountStores, [](const Row& r) { return r.int64(0); }).value(); });
  if (stores == 0) throw std::invalid_argument("no store has a cloud account");
  const std::int64_t first = first_id_at(now - std::chrono::days{89});
  const std::int64_t end = first_id_at(now - std::chrono::days{31});
  const std::int64_t stride = (end - first) / count;
  // A multiple of the stores, so that a customer's deliveries are of one cloud account.
  const std::int64_t customers = ((count + 1) / 2 + stores - 1) / stores * stores;
  for (std::int64_t from = 0; from < count; from += kBatch) {
    const std::int64_t to = std::min(count, from + kBatch);
    const std::int64_t from_id = first + from * stride;
    const std::int64_t to_id = first + to * stride;
    database.write([&](Tx& tx) {
      if (from < customers) tx.exec(kCustomers, from, std::min(to, customers), first, stride, stores);
      tx.exec(kOrders, from, to, first, stride, stores, customers);
      tx.exec(kDeliveries, from_id, to_id, first, stride, customers);
      tx.exec(kItems, from_id, to_id, first, stride, customers);
      tx.exec(kTimeline, from_id, to_id);
      tx.exec(kLedger, from_id, to_id);
      tx.exec(kEvents, from_id, to_id);
      tx.exec(kDispatches, from_id, to_id);
      tx.exec(kAttempts, from_id, to_id);
    });
  }
  database.write([&](Tx& tx) { tx.exec(kSpend, first, end); });
}

}  // namespace presetbridge::storage::testing
