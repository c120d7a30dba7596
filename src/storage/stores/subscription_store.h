// Outbound webhook subscriptions as their owner sees and changes them (spec 9.5), and the delivery attempts
// made for them. event_store.h has the events.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge::storage {

struct SubscriptionRow {
  SubscriptionId id;
  AccountId account;
  std::string name;  // for people; may be empty
  std::string url;
  std::vector<std::byte> encrypted_secret;  // crypto::ValuePlace {"webhook_subscriptions.secret", id}
  std::vector<std::byte> encrypted_previous_secret;  // likewise; empty: none
  std::optional<Timestamp> previous_secret_expires_at;
  std::vector<std::byte> encrypted_older_secret;  // likewise: the one before the previous one
  std::optional<Timestamp> older_secret_expires_at;
  std::vector<std::string> event_types;     // empty: all
  std::vector<IntegrationId> integrations;  // empty: all
  std::optional<Timestamp> narrowed_at;     // when stores were last taken out of them
  bool active = true;
  std::string deactivated_reason;  // empty: none, or active
  Timestamp created_at;
  std::int64_t version = 1;
  // The beginnings of the first and the last delivery attempt that failed since the last success; nothing:
  // none failed. dispatch_store.h writes them, and forget_failures() deletes them.
  std::optional<Timestamp> failing_since;
  std::optional<Timestamp> failing_last_at;
  std::optional<Timestamp> failing_reported_at;  // when its owner was notified of the failures
  friend bool operator==(const SubscriptionRow&, const SubscriptionRow&) = default;
};

void insert_subscription(Tx& tx, const SubscriptionRow& row);
std::optional<SubscriptionRow> find_subscription(Tx& tx, SubscriptionId id);
std::optional<SubscriptionRow> lock_subscription(Tx& tx, SubscriptionId id);
// Returns those of `ids` that are there and active.
std::vector<SubscriptionId> find_active_subscriptions(Tx& tx, std::span<const SubscriptionId> ids);
// Newest first, ids below `before`.
std::vector<SubscriptionRow> list_subscriptions(Tx& tx, AccountId account, std::int64_t before, int limit);
std::int64_t count_subscriptions(Tx& tx, AccountId account);
// Writes every member that its owner may change; row.version grows by one.
void update_subscription(Tx& tx, SubscriptionRow& row);
// Deletes the subscription, so that it gets no more events, and kDispatchBatch of the dispatches that wait for
// it; the others, of which there may be a million, are left to retention (delete_dispatches_of_nobody).
void delete_subscription(Tx& tx, SubscriptionId id);
inline constexpr int kDispatchBatch = 500;
// Deletes at most `limit` of the dispatches that wait for it, the oldest, with their attempts, which an erasure
// would not find any more (spec 9.6); returns how many.
std::int64_t delete_pending_dispatches(Tx& tx, SubscriptionId id, int limit);

struct AttemptRow {
  AttemptId id;
  std::string event_uuid;
  std::string event_type;
  DeliveryId delivery;  // none for webhook.test
  Timestamp at;
  std::optional<std::int64_t> status_code;
  std::int64_t duration_ms = 0;
  std::string outcome;
  std::string answer;
  std::string content_type = {};  // of the answer; empty: it had none
};
// The results of the newest delivery attempts, at most attempts_read.
struct SubscriptionHealth {
  static constexpr int attempts_read = 40;
  static constexpr int waiting_counted = 1'000;
  struct Attempt {
    std::optional<std::int64_t> status_code;
    std::string outcome;
  };
  std::vector<Attempt> recent;                // newest first
  std::optional<std::int64_t> p50_ms;         // of their durations
  std::optional<std::int64_t> waiting_count;  // dispatches that wait; nothing: more than waiting_counted
  std::optional<Timestamp> last_attempt_at;   // nothing: none was made, or none is stored any more
  std::optional<std::int64_t> last_status_code;
  std::string last_outcome;
  std::optional<Timestamp> last_success_at;
  int failures_in_a_row = 0;  // that no success has followed
};
SubscriptionHealth find_subscription_health(Tx& tx, SubscriptionId subscription);

// When the owner of a failing subscription is notified, and when it is turned off.
struct TroubleRules {
  Timestamp now;
  Millis report_after;   // it is reported after so long with failures only, two at least
  Millis off_after;      // it is turned off when so long lies between the first and the last failure,
  Millis report_before;  // and it was reported so long before
};
// To report: `failing`; `off`, which also turns it off; `gone`: the receiver answered that it is gone
// (410).
enum class SubscriptionTrouble { failing, off, gone };
// At most `limit` subscriptions for which trouble_of() has something to report, by the time of the first
// failure.
std::vector<SubscriptionId> find_subscriptions_in_trouble(Tx& tx, const TroubleRules& rules, int limit);
// The trouble to report of this one; nothing: none.
std::optional<SubscriptionTrouble> trouble_of(const SubscriptionRow& row, const TroubleRules& rules);
inline constexpr std::string_view kReceiverGone = "receiver_gone";  // deactivated_reason
inline constexpr std::string_view kTurnedOff = "failing";           // deactivated_reason
// Notes that its trouble was reported now, and turns it off with `off`, in the database and in `row`.
void note_reported(Tx& tx, SubscriptionRow& row, bool off);
// Deletes the times of its failures, in the database and in `row`.
void forget_failures(Tx& tx, SubscriptionRow& row);

// Newest first. An attempt whose event is past its retention has no uuid and type.
Page<AttemptRow> list_attempts(Tx& tx, SubscriptionId subscription, const PageRequest& page);

}  // namespace presetbridge::storage
