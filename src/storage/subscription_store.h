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
};
// How the newest attempts went, as far back as is looked at.
struct SubscriptionHealth {
  static constexpr int attempts_looked_at = 20;
  std::optional<Timestamp> last_attempt_at;  // nothing: none was made, or none is kept
  std::optional<std::int64_t> last_status_code;
  std::string last_outcome;
  std::optional<Timestamp> last_success_at;
  int failures_in_a_row = 0;  // up to now
};
SubscriptionHealth find_subscription_health(Tx& tx, SubscriptionId subscription);

// Newest first. An attempt whose event is past its retention has no uuid and type.
Page<AttemptRow> list_attempts(Tx& tx, SubscriptionId subscription, const PageRequest& page);

}  // namespace presetbridge::storage
