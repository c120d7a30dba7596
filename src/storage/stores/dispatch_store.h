// The queue of outbound webhooks (spec 10). A dispatch is one event on its way to one subscription (a row
// of webhook_sends, which event_store.h writes). The dispatcher leases dispatches in bulk, and records
// their results in bulk. A lease carries a fence: a holder that has lost it can neither record nor release.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

// The part of a subscription that a delivery attempt needs. The secrets are encrypted for the
// crypto::ValuePlace {kSubscriptionSecret, id}.
inline constexpr std::string_view kSubscriptionSecret = "webhook_subscriptions.secret";
struct DispatchTarget {
  SubscriptionId id;
  std::string host;  // of its URL, by which DispatchLeaseLimits::per_host counts; empty: not counted
  AccountId account;
  std::int64_t version = 0;  // grows with every change of the row
  std::string url;
  std::vector<std::byte> encrypted_secret;
  std::vector<std::byte> encrypted_previous_secret;  // empty: none
  std::optional<Timestamp> previous_secret_expires_at;
  std::vector<std::byte> encrypted_older_secret;  // empty: none
  std::optional<Timestamp> older_secret_expires_at;
};

struct LeasedDispatch {
  std::int64_t id = 0;
  std::int64_t fence = 0;
  std::int64_t attempts = 0;  // made before
  std::size_t target = 0;     // index into DispatchLeases::targets
  Timestamp expires_at;       // of the lease
  EventId event;
  std::string type;
  std::string uuid;
  std::string body;
};

struct DispatchLeases {
  std::vector<DispatchTarget> targets;
  std::vector<LeasedDispatch> dispatches;
  std::optional<Timestamp> next_ready;  // when there may be more
  Timestamp at{};                       // the database's time of the transaction
  // Subscriptions with due dispatches, and the host or the account whose limit put them off: the caller
  // visits them again when that has room.
  std::vector<std::pair<SubscriptionId, std::string>> put_off;
  std::vector<std::pair<SubscriptionId, AccountId>> put_off_by_account;
};

// The most dispatches that a subscription may have leased at a time, at least 1.
using DispatchLimits = std::unordered_map<SubscriptionId, int>;

struct DispatchLeaseLimits {
  Timestamp from{};                               // subscriptions that were ready before are left out
  int dispatches = 512;                           // at most, in all
  int per_subscription = 16;                      // leased at one time, counted over all processes
  Millis lease{40'000};                           // longer than a call's deadline
  std::shared_ptr<const DispatchLimits> lowered;  // for single subscriptions; null: none

  // Many subscriptions may lead to one host: it has its own limit, counted in this process.
  int per_host = 64;
  std::unordered_map<std::string, int> under_way;  // by host

  // The most that an account may have under way: while other accounts have or want slots, and while none
  // does (spec 8.6). Counted in this process.
  int per_account = 128;
  int account_alone = 896;
  std::unordered_map<AccountId, int> under_way_of_account;
  // The last of these slots are reserved for its subscriptions that have nothing under way (spec 10.6).
  static int reserved_for_others(int slots) { return std::max(slots / 4, 1); }

  std::vector<SubscriptionId> again;  // put off before: visited first
};

struct ReadySubscription {
  DispatchTarget target;  // its host is for the caller to fill in
  bool active = false;
};
// Locks subscriptions that may have due dispatches: those that were put off, then the ready ones in the
// order in which they became ready.
std::vector<ReadySubscription> lock_ready_subscriptions(Tx& tx, const DispatchLeaseLimits& limits);
// Leases due dispatches of these, which are all that lock_ready_subscriptions() has locked in this
// transaction. Each is visited in that order and takes its share. A subscription at its limit, or at that
// of its host or account, is not ready until one of its leases ends, so that the others do not wait for it.
DispatchLeases lease_dispatches(Tx& tx, std::vector<ReadySubscription> ready,
                                const DispatchLeaseLimits& limits);

enum class DispatchStatus { pending, succeeded, failed, exhausted };

// The result of a leased dispatch: a delivery attempt, or none (`released`: it is due again at once).
struct DispatchResult {
  SubscriptionId subscription;
  std::int64_t dispatch = 0;
  std::int64_t fence = 0;
  bool released = false;

  std::int64_t attempt_id = 0;
  std::int64_t attempts = 0;  // with this one
  Timestamp at;               // when it began
  Millis duration{0};
  std::optional<int> http_status;  // none: no answer
  std::string outcome;             // a short code
  std::string answer;              // valid UTF-8 without NUL
  std::string content_type;        // of the answer; likewise
  DispatchStatus status = DispatchStatus::pending;
  Timestamp due_at;  // of the next attempt, when pending
  // Not empty: the subscription is deactivated for this reason, if it is still at `version`.
  std::string deactivate_for;
  std::int64_t version = 0;
  bool of_ours = false;  // the service failed, not the receiver
};

// Writes the attempts, the new status of the dispatches, and of their subscriptions when they are ready and
// since when they fail: a success ends a period of failures, and the first failure after it begins one. No
// success, of these results or later, ends it once a receiver was gone (`deactivate_for`). A result whose
// lease was lost, or that was recorded before, changes no dispatch.
void record_results(Tx& tx, std::span<const DispatchResult> results);

// The earliest time, at `from` or later, at which a subscription is ready.
std::optional<Timestamp> next_ready_subscription(Tx& tx, Timestamp from);

// Whether a lease ran out at `from` or later.
bool any_dispatch_expired(Tx& tx, Timestamp from);
// Makes dispatches due again whose lease ran out at `from` or later, at most `limit`; returns how many.
int take_over_expired_dispatches(Tx& tx, Timestamp from, int limit);

// Active subscriptions that are not ready though a dispatch of theirs is due: a wake-up was lost, as in
// cloud_account_store.h (any_forgotten_account). By rising id.
std::vector<SubscriptionId> find_forgotten_subscriptions(Tx& tx);
// Makes those of them ready now that are active.
void wake_subscriptions(Tx& tx, std::span<const SubscriptionId> ids);

// Finds anew when the subscription is ready, from its pending dispatches. Call it after it was activated,
// or after dispatches of it were made due.
void refresh_readiness(Tx& tx, SubscriptionId subscription);

}  // namespace presetbridge::storage
