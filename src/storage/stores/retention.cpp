#include "storage/stores/retention.h"

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

constexpr Sql kOldSends{
    "SELECT id, status FROM webhook_sends WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3"};
constexpr Sql kDeleteSend{"DELETE FROM webhook_sends WHERE id = $1 AND id < $2 AND status <> 'leased'"};

constexpr Sql kNextAwaited{
    "SELECT subscription_id FROM webhook_sends WHERE status = 'pending' AND subscription_id > $1"
    " ORDER BY subscription_id LIMIT 1"};
constexpr Sql kSubscriptionIsThere{"SELECT 1 FROM webhook_subscriptions WHERE id = $1"};
constexpr int kSubscriptionsRead = 100;  // in one batch

constexpr Sql kOldEvents{"SELECT id FROM outbound_events WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3"};
constexpr Sql kDeleteEvent{"DELETE FROM outbound_events WHERE id = $1 AND id < $2"};

constexpr Sql kNextWithAttempts{
    "SELECT subscription_id FROM webhook_attempts WHERE subscription_id > $1 ORDER BY subscription_id LIMIT "
    "1"};
constexpr Sql kDeleteAttempts{
    "DELETE FROM webhook_attempts WHERE subscription_id = $1 AND id IN"
    " (SELECT id FROM webhook_attempts WHERE subscription_id = $1 AND id < $2 ORDER BY id LIMIT $3)"};

// Deletes the rows that `select` finds with old ids after `after`; `is_old` checks the rest of a row.
// `remove` gets an id and `oldest_kept`, and has the condition that makes a row old again: where several
// transactions write, another one may have changed the row since.
template <class IsOld>
AgedBatch delete_aged(Tx& tx, const Sql& select, const Sql& remove, const Param& oldest_kept,
                      std::int64_t after, Timestamp before, int limit, IsOld is_old) {
  AgedBatch batch;
  std::vector<Param> old;
  int seen = 0;
  std::int64_t last = after;
  tx.query(select, after, first_id_at(before), limit, [&](const Row& r) {
    ++seen;
    last = r.int64(0);
    if (!is_old(r)) return;
    old.emplace_back(last);
    old.push_back(oldest_kept);
  });
  if (!old.empty()) tx.exec_many(remove, 2, old);
  batch.deleted = static_cast<std::int64_t>(old.size() / 2);
  if (seen == limit) batch.next = last;
  return batch;
}

}  // namespace

AgedBatch delete_old_payloads(Tx& tx, std::int64_t after, Timestamp before, int limit) {
  return delete_aged(tx, kOldPayloads, kDeletePayload, before, after, before, limit,
                     [&](const Row& r) { return r.time(1) < before; });
}

AgedBatch delete_old_sends(Tx& tx, std::int64_t after, Timestamp before, int limit) {
  return delete_aged(tx, kOldSends, kDeleteSend, first_id_at(before), after, before, limit,
                     [](const Row& r) { return r.text(1) != "leased"; });
}

AgedBatch delete_sends_of_nobody(Tx& tx, std::int64_t after, int limit) {
  AgedBatch batch;
  for (int i = 0; i < kSubscriptionsRead; ++i) {
    const auto next = tx.one(kNextAwaited, after, [](const Row& r) { return r.id<SubscriptionId>(0); });
    if (!next) return batch;
    if (!tx.one(kSubscriptionIsThere, *next, [](const Row&) { return true; })) {
      batch.deleted += delete_pending_sends(tx, *next, limit - static_cast<int>(batch.deleted));
      if (batch.deleted == limit) break;
    }
    after = next->value;
  }
  batch.next = after;
  return batch;
}

AgedBatch delete_old_events(Tx& tx, std::int64_t after, Timestamp before, int limit) {
  return delete_aged(tx, kOldEvents, kDeleteEvent, first_id_at(before), after, before, limit,
                     [](const Row&) { return true; });
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
