// Outbound webhook subscriptions as their owner sees and changes them (spec 9.5), and the attempts made for
// them. What is sent is in event_store.h.
#pragma once

#include <cstdint>
#include <optional>
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
  std::string name;  // what people call it; may be empty
  std::string url;
  std::vector<std::byte> encrypted_secret;           // place {"webhook_subscriptions.secret", id}
  std::vector<std::byte> encrypted_previous_secret;  // empty: none; the same place
  std::optional<Timestamp> previous_secret_expires_at;
  std::vector<std::string> event_types;     // empty: all
  std::vector<IntegrationId> integrations;  // empty: all
  bool active = true;
  std::string deactivated_reason;  // empty: none, or active
  Timestamp created_at;
  std::int64_t version = 1;
  // When the first and the last attempts began that failed since the last success; nothing: none did. Written
  // by send_store.h, and forgotten by forget_failures().
  std::optional<Timestamp> failing_since;
  std::optional<Timestamp> failing_last_at;
  std::optional<Timestamp> failing_told_at;  // when its owner was told of it
  friend bool operator==(const SubscriptionRow&, const SubscriptionRow&) = default;
};

void insert_subscription(Tx& tx, const SubscriptionRow& row);
std::optional<SubscriptionRow> find_subscription(Tx& tx, SubscriptionId id);
std::optional<SubscriptionRow> lock_subscription(Tx& tx, SubscriptionId id);
// Newest first, ids below `before`.
std::vector<SubscriptionRow> list_subscriptions(Tx& tx, AccountId account, std::int64_t before, int limit);
std::int64_t count_subscriptions(Tx& tx, AccountId account);
// Writes every field that may change; row.version grows by one.
void update_subscription(Tx& tx, SubscriptionRow& row);
// Nothing more is sent to it. Of what waits for it kSendsPiece sends go with it, the others by retention
// (delete_sends_of_nobody): there may be a million.
void delete_subscription(Tx& tx, SubscriptionId id);
inline constexpr int kSendsPiece = 500;
// At most `limit` of those that wait, the oldest; returns how many.
std::int64_t delete_pending_sends(Tx& tx, SubscriptionId id, int limit);

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
  std::string content_type = {};  // of the answer; empty: none was told
};
// How the newest attempts went, as far back as is looked at.
struct SubscriptionHealth {
  static constexpr int attempts_looked_at = 40;
  static constexpr int waiting_counted = 1'000;
  struct Attempt {
    std::optional<std::int64_t> status_code;
    std::string outcome;
  };
  std::vector<Attempt> recent;                // newest first
  std::optional<std::int64_t> p50_ms;         // of their durations
  std::optional<std::int64_t> waiting_count;  // sends that wait; nothing: more than are counted
  std::optional<Timestamp> last_attempt_at;   // nothing: none was made, or none is kept
  std::optional<std::int64_t> last_status_code;
  std::string last_outcome;
  std::optional<Timestamp> last_success_at;
  int failures_in_a_row = 0;  // up to now
};
SubscriptionHealth find_subscription_health(Tx& tx, SubscriptionId subscription);

// Subscriptions of whose trouble somebody is to hear. `gone`: the receiver said that it is (410).
struct TroubleRules {
  Timestamp now;
  Millis told_after;   // of nothing but failures, two at least
  Millis off_after;    // between the first and the last of them
  Millis told_before;  // at least, before it is turned off
};
enum class SubscriptionTrouble { failing, off, gone };
std::vector<SubscriptionId> find_subscriptions_in_trouble(Tx& tx, const TroubleRules& rules, int limit);
// What is to be told of this one.
std::optional<SubscriptionTrouble> trouble_of(const SubscriptionRow& row, const TroubleRules& rules);
inline constexpr std::string_view kReceiverGone = "receiver_gone";  // deactivated_reason
inline constexpr std::string_view kTurnedOff = "failing";           // likewise
// It was told now; with `off` it is no longer active. What row() says of it follows.
void note_told(Tx& tx, SubscriptionRow& row, bool off);
void forget_failures(Tx& tx, SubscriptionRow& row);

// Newest first. An attempt whose event is past its retention has no uuid and type.
Page<AttemptRow> list_attempts(Tx& tx, SubscriptionId subscription, const PageRequest& page);

}  // namespace presetbridge::storage
