#include "storage/stores/webhook_event_store.h"

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <set>

#include "base/id_time.h"
#include "storage/stores/dispatch_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::storage {
namespace {

constexpr int kBatch = 500;

#define PDB_SENT_COLUMNS \
  "s.id, s.event_id, s.status, s.attempts, s.due_at, e.type, e.uuid, e.delivery_id, e.created_at"
#define PDB_SENT_OF_SUBSCRIPTION                                            \
  "SELECT " PDB_SENT_COLUMNS                                                \
  " FROM webhook_sends AS s JOIN outbound_events AS e ON e.id = s.event_id" \
  " WHERE s.subscription_id = $1"

constexpr Sql kWalk{PDB_SENT_OF_SUBSCRIPTION
                    " AND s.event_id < $2 AND s.event_id >= $3 ORDER BY s.event_id DESC LIMIT $4"};
constexpr Sql kFind{PDB_SENT_OF_SUBSCRIPTION " AND s.event_id = $2"};
constexpr Sql kPending{PDB_SENT_OF_SUBSCRIPTION " AND s.status = 'pending' ORDER BY s.due_at, s.id LIMIT $2"};
constexpr Sql kLeased{PDB_SENT_OF_SUBSCRIPTION " AND s.lease_expires_at IS NOT NULL LIMIT $2"};
constexpr Sql kFailed{
    PDB_SENT_OF_SUBSCRIPTION
    " AND (s.status = 'failed' OR s.status = 'exhausted') ORDER BY s.due_at, s.id LIMIT $2"};
constexpr Sql kOfDelivery{
    "SELECT " PDB_SENT_COLUMNS
    " FROM outbound_events AS e JOIN webhook_sends AS s"
    " ON s.subscription_id = $1 AND s.event_id = e.id"
    " WHERE e.delivery_id = $2 AND e.id < $3 AND e.id >= $4 ORDER BY e.id DESC LIMIT $5"};
constexpr Sql kIntegration{"SELECT integration_id FROM deliveries WHERE id = $1"};
constexpr Sql kLastAttempt{
    "SELECT at, status_code, outcome FROM webhook_attempts WHERE send_id = $1 ORDER BY id DESC LIMIT 1"};

constexpr Sql kOfBefore{
    "SELECT id FROM outbound_events WHERE uuid = $1 AND substr(uuid, 15, 1) = '4' ORDER BY id LIMIT 1"};
constexpr Sql kBody{"SELECT body FROM outbound_events WHERE id = $1"};
constexpr Sql kAttempts{
    "SELECT id, at, status_code, duration_ms, outcome, answer, content_type FROM webhook_attempts WHERE "
    "send_id = $1"
    " ORDER BY id DESC LIMIT $2"};

constexpr Sql kSendAgain{
    "UPDATE webhook_sends SET status = 'pending', attempts = 0, due_at = $2 WHERE id = $1 AND status <> "
    "'leased'"};
constexpr Sql kFailedBetween{
    "SELECT id FROM webhook_sends WHERE subscription_id = $1 AND (status = 'failed' OR status = 'exhausted')"
    " AND due_at >= $2 AND due_at < $3 ORDER BY due_at, id LIMIT $4"};
constexpr Sql kBegin{
    "INSERT INTO webhook_recoveries (subscription_id, failed_since, failed_before) VALUES ($1, $2, $3)"
    " ON CONFLICT (subscription_id) DO UPDATE SET failed_before = excluded.failed_before, failed_since ="
    " CASE WHEN excluded.failed_since < webhook_recoveries.failed_since THEN excluded.failed_since"
    " ELSE webhook_recoveries.failed_since END"};
constexpr Sql kAnyRecovery{
    "SELECT subscription_id FROM webhook_recoveries WHERE subscription_id > $1 ORDER BY subscription_id "
    "LIMIT "
    "1"};
constexpr Sql kLockRecovery{
    "SELECT subscription_id, failed_since, failed_before FROM webhook_recoveries WHERE subscription_id > $1"
    " ORDER BY subscription_id LIMIT 1 <lock>"};
constexpr Sql kLockFailed{
    "SELECT id FROM webhook_sends WHERE subscription_id = $1 AND (status = 'failed' OR status = 'exhausted')"
    " AND due_at >= $2 AND due_at < $3 ORDER BY due_at, id LIMIT $4 <for_update>"};
constexpr Sql kRecover{
    "UPDATE webhook_sends SET status = 'pending', attempts = 0, due_at = $2 WHERE id = $1"
    " AND (status = 'failed' OR status = 'exhausted')"};
constexpr Sql kEnd{"DELETE FROM webhook_recoveries WHERE subscription_id = $1"};

SentStatus status_of(std::string_view name) {
  if (name == "succeeded") return SentStatus::succeeded;
  if (name == "exhausted") return SentStatus::exhausted;
  return name == "failed" ? SentStatus::permanent : SentStatus::waiting;
}

SentEventRow read(const Row& r) {
  return {.dispatch = r.int64(0),
          .event = r.id<EventId>(1),
          .uuid = r.string(6),
          .type = r.string(5),
          .delivery = r.id_or_none<DeliveryId>(7),
          .order_key = {},
          .order_number = {},
          .created_at = r.time(8),
          .status = status_of(r.text(2)),
          .under_way = r.text(2) == "leased",
          .attempts = r.int64(3),
          .due_at = r.time(4),
          .last_attempt_at = {},
          .last_status_code = {},
          .last_outcome = {}};
}

std::string text_of(const boost::json::object& object, std::string_view name) {
  const auto* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

// Names the order of an event that has no delivery: the body alone has it.
void read_order_of_body(const Row& r, SentEventRow& row) {
  const Blob bytes = r.bytes(0);
  boost::system::error_code error;
  const auto body = boost::json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, error);
  const auto* const order = body.is_object() ? body.as_object().if_contains("order") : nullptr;
  if (order == nullptr || !order->is_object()) return;
  row.order_key = text_of(order->as_object(), "orderId");
  row.order_number = text_of(order->as_object(), "orderNumber");
}

void read_orders(Tx& tx, std::vector<SentEventRow>& rows) {
  std::vector<OrderId> orders;
  std::vector<std::size_t> without_delivery;
  std::vector<Param> events;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    orders.push_back(OrderId{rows[i].delivery.value});
    if (rows[i].delivery || rows[i].type != "order.unmapped") continue;
    without_delivery.push_back(i);
    events.emplace_back(rows[i].event);
  }
  auto names = find_order_names(tx, orders);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].order_key = std::move(names[i].key);
    rows[i].order_number = std::move(names[i].number);
  }
  tx.query_each(kBody, 1, events,
                [&](std::size_t n, const Row& r) { read_order_of_body(r, rows[without_delivery[n]]); });
}

void read_last_attempts(Tx& tx, std::vector<SentEventRow>& rows) {
  std::vector<Param> dispatches;
  for (const auto& row : rows) dispatches.emplace_back(row.dispatch);
  tx.query_each(kLastAttempt, 1, dispatches, [&](std::size_t n, const Row& r) {
    rows[n].last_attempt_at = r.time(0);
    rows[n].last_status_code = r.opt_int64(1);
    rows[n].last_outcome = r.string(2);
  });
}

// People write the number with and without the sign before it.
std::string_view without_sign(std::string_view number) {
  return number.starts_with('#') ? number.substr(1) : number;
}

// The range of ids that a page may show.
struct Range {
  std::int64_t first = 0;
  std::int64_t before = 0;
};

bool matches(const SentEventRow& row, const SentEventFilter& filter, const Range& range) {
  return row.event.value >= range.first && row.event.value < range.before &&
         (!filter.status || row.status == *filter.status) &&
         (filter.type.empty() || row.type == filter.type) &&
         (!filter.delivery || row.delivery == filter.delivery);
}

// Removes the rows that is_of() excludes, and reads the deliveries of all in one statement.
void keep_those_of(Tx& tx, std::vector<SentEventRow>& rows, std::span<const IntegrationId> integrations) {
  std::vector<Param> deliveries;
  for (const auto& row : rows) deliveries.emplace_back(row.delivery);
  std::vector<IntegrationId> found(rows.size());
  tx.query_each(kIntegration, 1, deliveries,
                [&](std::size_t n, const Row& r) { found[n] = r.id<IntegrationId>(0); });
  std::vector<SentEventRow> filtered;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const bool is_theirs = rows[n].delivery ? std::ranges::find(integrations, found[n]) != integrations.end()
                                            : is_of(tx, rows[n], integrations);
    if (is_theirs) filtered.push_back(std::move(rows[n]));
  }
  rows = std::move(filtered);
}

// Removes the rows that the filter excludes, and reads the orders where it needs them.
void keep_wanted(Tx& tx, std::vector<SentEventRow>& rows, const SentEventFilter& filter, const Range& range) {
  std::erase_if(rows, [&](const SentEventRow& row) { return !matches(row, filter, range); });
  if (!filter.integrations.empty()) keep_those_of(tx, rows, filter.integrations);
  if (filter.order.empty()) return;
  read_orders(tx, rows);
  std::erase_if(rows, [&](const SentEventRow& row) {
    return row.order_key.empty() ||
           (row.order_key != filter.order && without_sign(row.order_number) != without_sign(filter.order));
  });
}

// All rows that wait, or have failed, if they are few.
std::optional<std::vector<SentEventRow>> few(Tx& tx, SubscriptionId subscription, SentStatus status) {
  std::vector<SentEventRow> rows;
  const auto take = [&](const Row& r) { rows.push_back(read(r)); };
  if (status == SentStatus::waiting) {
    tx.query(kPending, subscription, kFewDispatches + 1, take);
    tx.query(kLeased, subscription, kFewDispatches + 1, take);
  } else {
    tx.query(kFailed, subscription, kFewDispatches + 1, take);
  }
  if (std::ssize(rows) > kFewDispatches) return std::nullopt;
  std::ranges::sort(rows, std::greater{}, &SentEventRow::event);
  return rows;
}

}  // namespace

Page<SentEventRow> list_sent_events(Tx& tx, SubscriptionId subscription, const SentEventFilter& filter,
                                    const PageRequest& page) {
  const Range range{.first = filter.from ? first_id_at(*filter.from) : 0,
                    .before = filter.to ? std::min(page.before, first_id_at(*filter.to)) : page.before};
  const auto wanted = static_cast<std::size_t>(page.fetch());
  std::vector<SentEventRow> found;
  std::optional<std::int64_t> next;  // set when not all rows were read
  const bool by_status = filter.status && *filter.status != SentStatus::succeeded;
  auto all = by_status && !filter.delivery ? few(tx, subscription, *filter.status) : std::nullopt;
  if (all) {
    found = std::move(*all);
    keep_wanted(tx, found, filter, range);
  } else {
    const bool plain = !filter.status && filter.type.empty() && filter.order.empty();
    const int size = plain ? page.fetch() : kBatch;
    std::int64_t before = range.before;
    for (int scanned = 0; found.size() < wanted; scanned += size) {
      if (scanned >= kSentScanLimit) {
        next = before;
        break;
      }
      std::vector<SentEventRow> rows;
      const auto take = [&](const Row& r) { rows.push_back(read(r)); };
      if (filter.delivery) {
        tx.query(kOfDelivery, subscription, filter.delivery, before, range.first, size, take);
      } else {
        tx.query(kWalk, subscription, before, range.first, size, take);
      }
      const bool last = std::ssize(rows) < size;
      if (!last) before = rows.back().event.value;
      keep_wanted(tx, rows, filter, range);
      std::ranges::move(rows, std::back_inserter(found));
      if (last) break;
    }
  }
  if (found.size() > wanted) found.resize(wanted);
  auto listed = make_page(std::move(found), page, [](const SentEventRow& row) { return row.event.value; });
  if (!listed.next) listed.next = next;
  if (filter.order.empty()) read_orders(tx, listed.rows);
  read_last_attempts(tx, listed.rows);
  return listed;
}

std::optional<SentEventRow> find_sent_event(Tx& tx, SubscriptionId subscription, EventId event) {
  auto found = tx.one(kFind, subscription, event, read);
  if (!found) return std::nullopt;
  std::vector rows{std::move(*found)};
  read_orders(tx, rows);
  read_last_attempts(tx, rows);
  return std::move(rows.front());
}

bool is_of(Tx& tx, const SentEventRow& row, std::span<const IntegrationId> integrations) {
  if (row.type == "webhook.test") return true;
  std::optional<IntegrationId> integration;
  if (row.delivery) {
    integration = tx.one(kIntegration, row.delivery, [](const Row& r) { return r.id<IntegrationId>(0); });
  } else {
    // That of an order without a delivery is in the body alone.
    const auto body = boost::json::parse(find_event_body(tx, row.event));
    const auto* const id = body.as_object().if_contains("integrationId");
    if (id != nullptr && id->is_string())
      integration = parse_id<IntegrationKind>(std::string_view(id->as_string()));
  }
  return integration && std::ranges::find(integrations, *integration) != integrations.end();
}

std::optional<EventId> find_event_of_before(Tx& tx, std::string_view uuid) {
  return tx.one(kOfBefore, uuid, [](const Row& r) { return r.id<EventId>(0); });
}

std::string find_event_body(Tx& tx, EventId event) {
  return tx
      .one(kBody, event,
           [](const Row& r) {
             const Blob body = r.bytes(0);
             return std::string(reinterpret_cast<const char*>(body.data()), body.size());
           })
      .value_or(std::string());
}

std::vector<AttemptRow> attempts_of_dispatch(Tx& tx, std::int64_t dispatch) {
  std::vector<AttemptRow> rows;
  tx.query(kAttempts, dispatch, kAttemptsOfDispatch, [&](const Row& r) {
    rows.push_back({.id = r.id<AttemptId>(0),
                    .event_uuid = {},
                    .event_type = {},
                    .delivery = {},
                    .at = r.time(1),
                    .status_code = r.opt_int64(2),
                    .duration_ms = r.int64(3),
                    .outcome = r.string(4),
                    .answer = r.string(5),
                    .content_type = r.string(6)});
  });
  std::ranges::reverse(rows);
  return rows;
}

bool send_again(Tx& tx, SubscriptionId subscription, std::int64_t dispatch) {
  if (tx.exec(kSendAgain, dispatch, tx.now()) == 0) return false;
  refresh_readiness(tx, subscription);
  return true;
}

std::int64_t count_failed_dispatches(Tx& tx, SubscriptionId subscription, Timestamp since, Timestamp before,
                                     int most) {
  std::int64_t count = 0;
  tx.query(kFailedBetween, subscription, since, before, most, [&](const Row&) { ++count; });
  return count;
}

void begin_recovery(Tx& tx, SubscriptionId subscription, Timestamp since, Timestamp before) {
  tx.exec(kBegin, subscription, since, before);
}

bool any_recovery(Tx& tx) {
  return tx.one(kAnyRecovery, std::int64_t{0}, [](const Row&) { return true; }).value_or(false);
}

std::optional<RecoveryBatch> recover_failed_dispatches(Tx& tx, SubscriptionId after, int limit) {
  std::optional<RecoveryBatch> batch;
  Timestamp since;
  Timestamp before;
  tx.query(kLockRecovery, after, [&](const Row& r) {
    batch = RecoveryBatch{.subscription = r.id<SubscriptionId>(0)};
    since = r.time(1);
    before = r.time(2);
  });
  if (!batch) return std::nullopt;
  std::vector<Param> due;
  tx.query(kLockFailed, batch->subscription, since, before, limit, [&](const Row& r) {
    due.emplace_back(r.int64(0));
    due.emplace_back(tx.now());
  });
  batch->dispatches = static_cast<int>(due.size() / 2);
  if (!due.empty()) tx.exec_many(kRecover, 2, due);
  if (batch->dispatches < limit) tx.exec(kEnd, batch->subscription);
  refresh_readiness(tx, batch->subscription);
  return batch;
}

}  // namespace presetbridge::storage
