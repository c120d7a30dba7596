// The queue of outbound webhooks (spec 10): sends are leased in bulk by a dispatcher, and what became of them
// is recorded in bulk. A lease carries a fence: who lost it can neither record nor release. Events and sends
// are written by event_store.h.
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

// What a send needs to know of its subscription. The secrets are encrypted at the place {kSubscriptionSecret,
// id}.
inline constexpr std::string_view kSubscriptionSecret = "webhook_subscriptions.secret";
struct SendTarget {
  SubscriptionId id;
  std::string host;  // where its URL leads, by which SendLeaseLimits::per_host counts; empty: uncounted
  AccountId account;
  std::int64_t version = 0;  // grows with every change of the row
  std::string url;
  std::vector<std::byte> encrypted_secret;
  std::vector<std::byte> encrypted_previous_secret;  // empty: none
  std::optional<Timestamp> previous_secret_expires_at;
};

struct LeasedSend {
  std::int64_t id = 0;
  std::int64_t fence = 0;
  std::int64_t attempts = 0;  // made before this one
  std::size_t target = 0;     // index into SendLeases::targets
  Timestamp expires_at;       // of the lease
  EventId event;
  std::string type;
  std::string uuid;
  std::string body;
};

struct SendLeases {
  std::vector<SendTarget> targets;
  std::vector<LeasedSend> sends;
  std::optional<Timestamp> next_ready;  // when there may be more
  Timestamp at{};                       // the database's time of the transaction
  // Subscriptions with sends that are due, and the host or the account whose limit put them off: to be
  // visited again when it has room.
  std::vector<std::pair<SubscriptionId, std::string>> put_off;
  std::vector<std::pair<SubscriptionId, AccountId>> put_off_by_account;
};

// How many sends a subscription may have leased at one time, at least 1.
using SendLimits = std::unordered_map<SubscriptionId, int>;

struct SendLeaseLimits {
  Timestamp from{};                           // what was ready before is left out
  int sends = 512;                            // at most, in all
  int per_subscription = 16;                  // leased at one time, counted over all processes
  Millis lease{40'000};                       // longer than a call's deadline
  std::shared_ptr<const SendLimits> lowered;  // for single subscriptions; null: none

  // Many subscriptions may lead to one host: it has its own limit, counted in this process.
  int per_host = 64;
  std::unordered_map<std::string, int> under_way;  // by host

  // What an account may have under way while others have or want places, and alone (spec 8.6): counted in
  // this process.
  int per_account = 128;
  int account_alone = 896;
  std::unordered_map<AccountId, int> under_way_of_account;
  // The last of those places are for its subscriptions that have no send under way (spec 10.6).
  static int kept_for_others(int places) { return std::max(places / 4, 1); }

  std::vector<SubscriptionId> again;  // put off before: visited first
};

struct ReadySubscription {
  SendTarget target;  // its host is for the caller to fill in
  bool active = false;
};
// Locks subscriptions that may have due sends: those that were put off, then the ready ones in the order in
// which they became ready.
std::vector<ReadySubscription> lock_ready_subscriptions(Tx& tx, const SendLeaseLimits& limits);
// Leases due sends of these, all that lock_ready_subscriptions() has locked in this transaction. Each is
// visited in that order and takes its share; one at its limit, or at its host's or its account's, is out of
// the way until a send ends there, so that it keeps nobody waiting.
SendLeases lease_sends(Tx& tx, std::vector<ReadySubscription> ready, const SendLeaseLimits& limits);

enum class SendStatus { pending, succeeded, failed, exhausted };

// What became of a leased send: an attempt, or that there was none (`released`: due again at once).
struct SendResult {
  SubscriptionId subscription;
  std::int64_t send = 0;
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
  SendStatus status = SendStatus::pending;
  Timestamp due_at;  // of the next attempt, when pending
  // Not empty: the subscription is deactivated for this reason, if it is still at `version`.
  std::string deactivate_for;
  std::int64_t version = 0;
  bool of_ours = false;  // what failed is the service, not the receiver
};

// Writes attempts, the sends' new standing, their subscriptions' readiness and since when they fail: a
// success ends that, the first failure after it begins it. A result whose lease was lost changes no send; one
// that is recorded again neither.
void record_sends(Tx& tx, std::span<const SendResult> results);

// When the first subscription is ready, of those that were not so before `from`.
std::optional<Timestamp> next_ready_subscription(Tx& tx, Timestamp from);

// Whether a lease ran out at `from` or later.
bool any_send_expired(Tx& tx, Timestamp from);
// Makes sends whose lease ran out at `from` or later due again, at most `limit`; returns how many.
int take_over_expired_sends(Tx& tx, Timestamp from, int limit);

// Subscriptions that are not ready though a send of theirs is due: a wake-up was lost, as in
// cloud_account_store.h (any_forgotten_account). By rising id.
std::vector<SubscriptionId> find_forgotten_subscriptions(Tx& tx);
// These are ready now, as far as they are active.
void wake_subscriptions(Tx& tx, std::span<const SubscriptionId> ids);

// After the subscription was activated, or sends of it were made due: its pending ones are looked at again.
void refresh_readiness(Tx& tx, SubscriptionId subscription);

}  // namespace presetbridge::storage
