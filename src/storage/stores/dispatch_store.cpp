#include "storage/stores/dispatch_store.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 4> kStatusNames = {"pending", "succeeded", "failed", "exhausted"};

#define PDB_TARGET_COLUMNS                                                      \
  "id, account_id, version, url, encrypted_secret, encrypted_previous_secret, " \
  "previous_secret_expires_at, active, encrypted_older_secret, older_secret_expires_at"

constexpr Sql kLockReady{"SELECT " PDB_TARGET_COLUMNS
                         " FROM webhook_subscriptions WHERE ready_at IS NOT NULL AND ready_at >= $1"
                         " AND ready_at <= $2 ORDER BY ready_at LIMIT $3 <lock>"};
constexpr Sql kLockOne{"SELECT " PDB_TARGET_COLUMNS " FROM webhook_subscriptions WHERE id = $1 <lock>"};
constexpr Sql kCountLeased{
    "SELECT count(*) FROM webhook_sends WHERE subscription_id = $1 AND lease_expires_at IS NOT NULL"};
// Only rows of webhook_sends are locked: other subscriptions may have their own of the event.
constexpr Sql kLockDue{
    "SELECT s.id, s.fence, s.attempts, s.due_at, s.event_id, e.type, e.uuid, e.body FROM"
    " (SELECT id, fence, attempts, due_at, event_id FROM webhook_sends"
    " WHERE subscription_id = $1 AND due_at <= $2 AND status = 'pending' ORDER BY due_at, id LIMIT $3 "
    "<lock>) AS s"
    " LEFT JOIN outbound_events AS e ON e.id = s.event_id"};
constexpr Sql kLease{
    "UPDATE webhook_sends SET status = 'leased', fence = $2, lease_expires_at = $3 WHERE id = $1"};
constexpr Sql kDrop{"UPDATE webhook_sends SET status = 'failed' WHERE id = $1"};
constexpr Sql kSetReady{"UPDATE webhook_subscriptions SET ready_at = $2 WHERE id = $1"};
constexpr Sql kFindForgotten{
    "SELECT id FROM webhook_subscriptions WHERE active = 1 AND (ready_at IS NULL OR ready_at > $1)"
    " AND EXISTS (SELECT 1 FROM webhook_sends WHERE webhook_sends.subscription_id = webhook_subscriptions.id"
    " AND webhook_sends.status = 'pending' AND webhook_sends.due_at <= $1) ORDER BY id"};
constexpr Sql kWake{
    "UPDATE webhook_subscriptions SET ready_at = $2 WHERE id = $1 AND active = 1"
    " AND (ready_at IS NULL OR ready_at > $2)"};
constexpr Sql kNextReady{
    "SELECT ready_at FROM webhook_subscriptions WHERE ready_at IS NOT NULL AND ready_at >= $1"
    " ORDER BY ready_at LIMIT 1"};

constexpr Sql kRecord{
    "UPDATE webhook_sends SET status = $3, attempts = $4, due_at = $5, lease_expires_at = NULL,"
    " last_status_code = COALESCE(CAST($6 AS BIGINT), last_status_code)"
    " WHERE id = $1 AND fence = $2 AND status = 'leased'"};
// After kRecord: if the lease was lost, the fence is another; if the result was recorded before, the
// attempt exists. The answer may repeat a username that the body held before an erasure.
constexpr Sql kInsertAttempt{
    "INSERT INTO webhook_attempts (subscription_id, id, send_id, event_id, at, status_code, duration_ms, "
    "outcome, answer, content_type)"
    " SELECT subscription_id, CAST($3 AS BIGINT), id, event_id, CAST($5 AS BIGINT), CAST($6 AS BIGINT), "
    "CAST($7 AS BIGINT),"
    " $8, CASE WHEN $9 <> '' AND EXISTS (SELECT 1 FROM outbound_events WHERE outbound_events.id = "
    "webhook_sends.event_id AND erased = 1) THEN '' ELSE $9 END, $10"
    " FROM webhook_sends WHERE id = $1 AND fence = $2 AND attempts = $4 AND status <> 'leased'"
    " ON CONFLICT (subscription_id, id) DO NOTHING"};
constexpr Sql kRelease{
    "UPDATE webhook_sends SET status = 'pending', lease_expires_at = NULL"
    " WHERE id = $1 AND fence = $2 AND status = 'leased'"};
constexpr Sql kDeactivate{
    "UPDATE webhook_subscriptions SET active = 0, deactivated_reason = $2, failing_told_at = NULL,"
    " version = version + 1 WHERE id = $1 AND version = $3 AND active = 1"
    " AND EXISTS (SELECT 1 FROM webhook_sends WHERE id = $4 AND fence = $5 AND status = 'failed')"};

constexpr Sql kAnyExpired{
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM webhook_sends WHERE lease_expires_at IS NOT NULL AND "
    "lease_expires_at >= $1 AND lease_expires_at <= $2)"};
constexpr Sql kLockExpired{
    "SELECT id, subscription_id, fence FROM webhook_sends WHERE lease_expires_at IS NOT NULL AND "
    "lease_expires_at >= $1 AND lease_expires_at <= $2 LIMIT $3 <lock>"};
constexpr Sql kTakeOver{
    "UPDATE webhook_sends SET status = 'pending', lease_expires_at = NULL, fence = $2 WHERE id = $1"};

constexpr Sql kLockSubscription{
    "SELECT active, failing_since FROM webhook_subscriptions WHERE id = $1 <for_update>"};
constexpr Sql kSetFailing{
    "UPDATE webhook_subscriptions SET ready_at = $2, failing_since = $3, failing_last_at = $4 WHERE id = $1"};
constexpr Sql kSetWorking{
    "UPDATE webhook_subscriptions SET ready_at = $2, failing_since = NULL, failing_last_at = NULL, "
    "failing_told_at = NULL WHERE id = $1"};
constexpr Sql kNextDue{
    "SELECT due_at FROM webhook_sends WHERE subscription_id = $1 AND status = 'pending' ORDER BY due_at, id "
    "LIMIT 1"};

std::vector<std::byte> copy_of(Blob blob) {
  return {blob.begin(), blob.end()};
}

// Never in the past: the scan for ready rows does not go back far (services/leases/ready_scan.h).
std::optional<Timestamp> next_ready(Tx& tx, SubscriptionId id) {
  const Timestamp now = tx.now();
  return tx.one(kNextDue, id, [now](const Row& r) { return std::max(r.time(0), now); });
}

// Leases the oldest due dispatches of a subscription, at most `most`, sorted. Drops those whose event was
// deleted, since its retention ended.
std::vector<LeasedDispatch> take_due(Tx& tx, SubscriptionId subscription, int most, Timestamp expires_at) {
  std::vector<std::pair<Timestamp, LeasedDispatch>> due;
  std::vector<std::int64_t> dropped;
  tx.query(kLockDue, subscription, tx.now(), most, [&](const Row& r) {
    if (r.is_null(6)) {
      dropped.push_back(r.int64(0));
      return;
    }
    const Blob body = r.bytes(7);
    due.emplace_back(r.time(3), LeasedDispatch{.id = r.int64(0),
                                               .fence = r.int64(1) + 1,
                                               .attempts = r.int64(2),
                                               .expires_at = expires_at,
                                               .event = r.id<EventId>(4),
                                               .type = r.string(5),
                                               .uuid = r.string(6),
                                               .body = std::string(reinterpret_cast<const char*>(body.data()),
                                                                   body.size())});
  });
  for (const auto id : dropped) tx.exec(kDrop, id);
  std::ranges::sort(due, {}, [](const auto& d) { return std::tuple(d.first, d.second.id); });
  std::vector<LeasedDispatch> dispatches;
  std::vector<Param> flat;
  for (auto& [at, dispatch] : due) {
    flat.insert(flat.end(), {dispatch.id, dispatch.fence, expires_at});
    dispatches.push_back(std::move(dispatch));
  }
  if (!flat.empty()) tx.exec_many(kLease, 3, flat);
  return dispatches;
}

// The beginnings of the first and the last attempt that failed; nothing: none did.
struct Failures {
  std::optional<Timestamp> first;
  std::optional<Timestamp> last;

  void add(Timestamp at) {
    first = std::min(first.value_or(at), at);
    last = std::max(last.value_or(at), at);
  }
};

// Writes when the subscription is ready, and since when it fails. A success that is recorded after it was
// deactivated ends no failures: its owner is still to be notified of a receiver that is gone.
void refresh(Tx& tx, SubscriptionId subscription, bool succeeded, const Failures& failures) {
  // Locked by a statement of its own: the next one then reads every dispatch that has been committed.
  bool active = false;
  std::optional<Timestamp> since;
  const auto there = tx.one(kLockSubscription, subscription, [&](const Row& r) {
    active = r.flag(0);
    since = r.opt_time(1);
    return true;
  });
  if (!there) return;
  const auto ready = active ? next_ready(tx, subscription) : std::nullopt;
  const bool works = succeeded && active && since;
  const bool begins_to_fail = !succeeded && !since && failures.first;
  if (works || begins_to_fail || (since && !active))
    tx.changes().push_back(changed(ChangeKind::subscription, AccountId{}, subscription));
  if (works) {
    tx.exec(kSetWorking, subscription, ready);
  } else if (!succeeded && failures.first) {
    tx.exec(kSetFailing, subscription, ready, since.value_or(*failures.first), *failures.last);
  } else {
    tx.exec(kSetReady, subscription, ready);
  }
}

int limit_of(const DispatchLeaseLimits& limits, SubscriptionId id) {
  if (!limits.lowered) return limits.per_subscription;
  const auto found = limits.lowered->find(id);
  return found == limits.lowered->end() ? limits.per_subscription : found->second;
}

// How many of the slots of its account, of which `under_way` are taken, a subscription may take.
int room_of_account(int slots, int under_way, bool has_some) {
  const int room = std::max(0, slots - under_way);
  const int shared = std::max(0, room - DispatchLeaseLimits::reserved_for_others(slots));
  return has_some ? shared : std::max(shared, std::min(room, 1));
}

// Whether more than one account has dispatches under way, or wants to.
bool is_shared(const std::vector<ReadySubscription>& ready, const DispatchLeaseLimits& limits) {
  std::set<AccountId> accounts;
  for (const auto& [account, count] : limits.under_way_of_account) {
    if (count > 0) accounts.insert(account);
  }
  for (const auto& one : ready) {
    if (one.active) accounts.insert(one.target.account);
  }
  return accounts.size() > 1;
}

}  // namespace

std::vector<ReadySubscription> lock_ready_subscriptions(Tx& tx, const DispatchLeaseLimits& limits) {
  std::vector<ReadySubscription> ready;
  std::set<SubscriptionId> seen;
  const auto take = [&](const Row& r) {
    const auto id = r.id<SubscriptionId>(0);
    if (!seen.insert(id).second) return;
    DispatchTarget target{.id = id,
                          .host = {},
                          .account = r.id<AccountId>(1),
                          .version = r.int64(2),
                          .url = r.string(3),
                          .encrypted_secret = copy_of(r.bytes(4)),
                          .encrypted_previous_secret = {},
                          .previous_secret_expires_at = r.opt_time(6),
                          .encrypted_older_secret = {},
                          .older_secret_expires_at = r.opt_time(9)};
    if (!r.is_null(5)) target.encrypted_previous_secret = copy_of(r.bytes(5));
    if (!r.is_null(8)) target.encrypted_older_secret = copy_of(r.bytes(8));
    ready.push_back({std::move(target), r.flag(7)});
  };
  for (const auto id : limits.again) tx.query(kLockOne, id, take);
  tx.query(kLockReady, limits.from, tx.now(), limits.dispatches, take);
  return ready;
}

DispatchLeases lease_dispatches(Tx& tx, std::vector<ReadySubscription> ready,
                                const DispatchLeaseLimits& limits) {
  DispatchLeases leases;
  const Timestamp expires_at = tx.now() + limits.lease;
  auto under_way = limits.under_way;
  auto of_accounts = limits.under_way_of_account;
  const int per_account = is_shared(ready, limits) ? limits.per_account : limits.account_alone;
  std::vector<Param> readiness;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    auto& [target, active] = ready[i];
    const auto id = target.id;
    const int left = limits.dispatches - static_cast<int>(leases.dispatches.size());
    if (!active) {
      readiness.insert(readiness.end(), {id, nullptr});
      continue;
    }
    if (left <= 0) break;
    const int limit = limit_of(limits, id);
    const auto leased = tx.one(kCountLeased, id, [](const Row& r) { return r.int64(0); }).value();
    const int room = std::max(0, limit - static_cast<int>(leased));
    int& at_host = under_way[target.host];
    const int host_room = target.host.empty() ? room : std::max(0, limits.per_host - at_host);
    int& of_account = of_accounts[target.account];
    const int account_room = room_of_account(per_account, of_account, leased > 0);
    const int share =
        std::min({room, host_room, account_room, std::max(1, left / static_cast<int>(ready.size() - i))});
    auto dispatches = share > 0 ? take_due(tx, id, share, expires_at) : std::vector<LeasedDispatch>{};
    const int taken = static_cast<int>(dispatches.size());
    at_host += taken;
    of_account += taken;
    const bool host_full = taken < room && taken == host_room;
    const bool account_full = taken < room && !host_full && taken == account_room;
    if (host_full) leases.put_off.emplace_back(id, target.host);
    if (account_full) leases.put_off_by_account.emplace_back(id, target.account);
    const auto next =
        taken == room || host_full || account_full ? std::optional(expires_at) : next_ready(tx, id);
    readiness.insert(readiness.end(), {id, Param(next)});
    if (dispatches.empty()) continue;
    for (auto& dispatch : dispatches) {
      dispatch.target = leases.targets.size();
      leases.dispatches.push_back(std::move(dispatch));
    }
    leases.targets.push_back(std::move(target));
  }
  if (!readiness.empty()) tx.exec_many(kSetReady, 2, readiness);
  leases.at = tx.now();
  leases.next_ready = next_ready_subscription(tx, limits.from);
  return leases;
}

std::optional<Timestamp> next_ready_subscription(Tx& tx, Timestamp from) {
  return tx.one(kNextReady, from, [](const Row& r) { return r.time(0); });
}

void record_results(Tx& tx, std::span<const DispatchResult> results) {
  std::vector<Param> updates;
  std::vector<Param> attempts;
  std::vector<Param> releases;
  // In order, so that two transactions lock in one order.
  std::set<SubscriptionId> touched;
  std::vector<const DispatchResult*> sorted;
  for (const auto& r : results) sorted.push_back(&r);
  std::ranges::sort(sorted, {}, [](const DispatchResult* r) { return r->dispatch; });
  for (const auto* one : sorted) {
    const auto& r = *one;
    touched.insert(r.subscription);
    if (r.released) {
      releases.insert(releases.end(), {r.dispatch, r.fence});
      continue;
    }
    const auto status = r.http_status ? Param(*r.http_status) : Param(nullptr);
    updates.insert(updates.end(), {r.dispatch, r.fence, kStatusNames[static_cast<std::size_t>(r.status)],
                                   r.attempts, r.due_at, status});
    attempts.insert(attempts.end(), {r.dispatch, r.fence, r.attempt_id, r.attempts, r.at, status,
                                     std::int64_t{r.duration.count()}, r.outcome, r.answer, r.content_type});
  }
  if (!updates.empty()) tx.exec_many(kRecord, 6, updates);
  if (!attempts.empty()) tx.exec_many(kInsertAttempt, 10, attempts);
  if (!releases.empty()) tx.exec_many(kRelease, 2, releases);
  for (const auto subscription : touched) {
    Failures failures;
    bool succeeded = false;
    bool deactivated = false;
    for (const auto& r : results) {
      if (r.subscription != subscription || r.released) continue;
      if (!r.deactivate_for.empty() &&
          tx.exec(kDeactivate, r.subscription, r.deactivate_for, r.version, r.dispatch, r.fence) > 0)
        deactivated = true;
      if (r.status == DispatchStatus::succeeded) {
        succeeded = true;
      } else if (!r.of_ours) {
        failures.add(r.at);
      }
    }
    refresh(tx, subscription, succeeded && !deactivated, failures);
  }
}

bool any_dispatch_expired(Tx& tx, Timestamp from) {
  return tx.one(kAnyExpired, from, tx.now(), [](const Row&) { return true; }).value_or(false);
}

int take_over_expired_dispatches(Tx& tx, Timestamp from, int limit) {
  std::vector<Param> flat;
  std::set<SubscriptionId> touched;
  tx.query(kLockExpired, from, tx.now(), limit, [&](const Row& r) {
    flat.insert(flat.end(), {r.int64(0), r.int64(2) + 1});
    touched.insert(r.id<SubscriptionId>(1));
  });
  if (!flat.empty()) tx.exec_many(kTakeOver, 2, flat);
  for (const auto subscription : touched) refresh_readiness(tx, subscription);
  return static_cast<int>(flat.size() / 2);
}

std::vector<SubscriptionId> find_forgotten_subscriptions(Tx& tx) {
  std::vector<SubscriptionId> ids;
  tx.query(kFindForgotten, tx.now(), [&](const Row& r) { ids.push_back(r.id<SubscriptionId>(0)); });
  return ids;
}
void wake_subscriptions(Tx& tx, std::span<const SubscriptionId> ids) {
  std::vector<Param> flat;
  for (const auto id : ids) flat.insert(flat.end(), {id, tx.now()});
  tx.update_each(kWake, 2, flat);
}

void refresh_readiness(Tx& tx, SubscriptionId subscription) {
  refresh(tx, subscription, false, {});
}

}  // namespace presetbridge::storage
