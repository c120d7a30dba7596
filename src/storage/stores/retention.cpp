#include "storage/stores/retention.h"

#include <set>
#include <vector>

#include "base/id_time.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kOldPayloads{
    "SELECT order_id, received_at FROM order_payloads WHERE order_id > $1 AND order_id < $2 ORDER BY "
    "order_id "
    "LIMIT $3"};
constexpr Sql kDeletePayload{"DELETE FROM order_payloads WHERE order_id = $1 AND received_at < $2"};

constexpr Sql kOldDispatches{
    "SELECT id, status, due_at FROM webhook_sends WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3"};
constexpr Sql kDeleteDispatch{
    "DELETE FROM webhook_sends WHERE id = $1 AND status <> 'leased' AND (status <> 'pending' OR due_at < "
    "$2)"};

// An erasure finds answers by their dispatches (event_store.h): those of attempts that stay longer are blanked now.
constexpr Sql kBlankAnswers{
    "UPDATE webhook_attempts SET answer = '' WHERE send_id = $1 AND answer <> ''"
    " AND NOT EXISTS (SELECT 1 FROM webhook_sends WHERE id = $1)"};

constexpr Sql kNextAwaited{
    "SELECT subscription_id FROM webhook_sends WHERE status = 'pending' AND subscription_id > $1"
    " ORDER BY subscription_id LIMIT 1"};
constexpr Sql kSubscriptionIsThere{"SELECT 1 FROM webhook_subscriptions WHERE id = $1"};
constexpr int kSubscriptionsRead = 100;  // in one batch

constexpr Sql kOldEvents{"SELECT id FROM outbound_events WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3"};
constexpr Sql kDispatchOfEvent{"SELECT id FROM webhook_sends WHERE event_id = $1 LIMIT 1"};
constexpr Sql kDeleteEvent{"DELETE FROM outbound_events WHERE id = $1 AND id < $2"};

constexpr Sql kNextWithAttempts{
    "SELECT subscription_id FROM webhook_attempts WHERE subscription_id > $1 ORDER BY subscription_id LIMIT "
    "1"};
constexpr Sql kDeleteAttempts{
    "DELETE FROM webhook_attempts WHERE subscription_id = $1 AND id IN"
    " (SELECT id FROM webhook_attempts WHERE subscription_id = $1 AND id < $2 ORDER BY id LIMIT $3)"};

struct Aged {
  std::vector<std::int64_t> ids;
  std::optional<std::int64_t> next;  // as AgedBatch::next
};

// The rows that `select` finds with old ids after `after`; `is_old` checks the rest of a row.
template <class IsOld>
Aged find_aged(Tx& tx, const Sql& select, std::int64_t after, Timestamp before, int limit, IsOld is_old) {
  Aged aged;
  int seen = 0;
  std::int64_t last = after;
  tx.query(select, after, first_id_at(before), limit, [&](const Row& r) {
    ++seen;
    last = r.int64(0);
    if (is_old(r)) aged.ids.push_back(last);
  });
  if (seen == limit) aged.next = last;
  return aged;
}

// `remove` gets an id and `oldest_retained`, and has the condition that makes a row old again: where several
// transactions write, another one may have changed the row since.
AgedBatch delete_aged(Tx& tx, const Aged& aged, const Sql& remove, const Param& oldest_retained) {
  std::vector<Param> flat;
  for (const auto id : aged.ids) flat.insert(flat.end(), {id, oldest_retained});
  if (!flat.empty()) tx.exec_many(remove, 2, flat);
  return {.deleted = static_cast<std::int64_t>(aged.ids.size()), .next = aged.next};
}

bool is_always_old(const Row&) {
  return true;
}

}  // namespace

AgedBatch delete_old_payloads(Tx& tx, std::int64_t after, Timestamp before, int limit) {
  const auto aged =
      find_aged(tx, kOldPayloads, after, before, limit, [&](const Row& r) { return r.time(1) < before; });
  return delete_aged(tx, aged, kDeletePayload, before);
}

AgedBatch delete_old_dispatches(Tx& tx, std::int64_t after, Timestamp before, int limit) {
  const auto aged = find_aged(tx, kOldDispatches, after, before, limit, [&](const Row& r) {
    return r.text(1) != "leased" && (r.text(1) != "pending" || r.time(2) < before);
  });
  const auto batch = delete_aged(tx, aged, kDeleteDispatch, before);
  const std::vector<Param> dispatches(aged.ids.begin(), aged.ids.end());
  if (!dispatches.empty()) tx.exec_many(kBlankAnswers, 1, dispatches);
  return batch;
}

AgedBatch delete_dispatches_of_nobody(Tx& tx, std::int64_t after, int limit) {
  AgedBatch batch;
  for (int i = 0; i < kSubscriptionsRead; ++i) {
    const auto next = tx.one(kNextAwaited, after, [](const Row& r) { return r.id<SubscriptionId>(0); });
    if (!next) return batch;
    if (!tx.one(kSubscriptionIsThere, *next, [](const Row&) { return true; })) {
      batch.deleted += delete_pending_dispatches(tx, *next, limit - static_cast<int>(batch.deleted));
      if (batch.deleted == limit) break;
    }
    after = next->value;
  }
  batch.next = after;
  return batch;
}

AgedBatch delete_old_events(Tx& tx, std::int64_t after, Timestamp before, int limit) {
  auto aged = find_aged(tx, kOldEvents, after, before, limit, is_always_old);
  const std::vector<Param> events(aged.ids.begin(), aged.ids.end());
  std::set<std::int64_t> sent;
  tx.query_each(kDispatchOfEvent, 1, events, [&](std::size_t n, const Row&) { sent.insert(aged.ids[n]); });
  std::erase_if(aged.ids, [&](std::int64_t id) { return sent.contains(id); });
  return delete_aged(tx, aged, kDeleteEvent, first_id_at(before));
}

AgedBatch delete_old_attempts(Tx& tx, std::int64_t after, Timestamp before, int limit) {
  AgedBatch batch;
  const auto subscription = tx.one(kNextWithAttempts, after, [](const Row& r) { return r.int64(0); });
  if (!subscription) return batch;
  batch.deleted = tx.exec(kDeleteAttempts, *subscription, first_id_at(before), limit);
  batch.next = batch.deleted == limit ? after : *subscription;
  return batch;
}

}  // namespace presetbridge::storage
