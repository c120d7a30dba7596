#include "storage/stores/subscription_store.h"

#include <algorithm>
#include <iterator>

#include "base/split.h"

namespace presetbridge::storage {
namespace {

#define PDB_SUBSCRIPTION_COLUMNS                                                                   \
  "id, account_id, url, encrypted_secret, encrypted_previous_secret, previous_secret_expires_at, " \
  "event_types, "                                                                                  \
  "integration_ids, active, deactivated_reason, created_at, version, name"
#define PDB_SUBSCRIPTION_READ PDB_SUBSCRIPTION_COLUMNS ", failing_since, failing_last_at, failing_told_at"
constexpr Sql kInsert{"INSERT INTO webhook_subscriptions (" PDB_SUBSCRIPTION_COLUMNS
                      ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"};
constexpr Sql kFind{"SELECT " PDB_SUBSCRIPTION_READ " FROM webhook_subscriptions WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_SUBSCRIPTION_READ " FROM webhook_subscriptions WHERE id = $1 <for_update>"};
constexpr Sql kList{
    "SELECT " PDB_SUBSCRIPTION_READ
    " FROM webhook_subscriptions WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"};
constexpr Sql kCount{"SELECT count(*) FROM webhook_subscriptions WHERE account_id = $1"};
constexpr Sql kUpdate{
    "UPDATE webhook_subscriptions SET url = $2, encrypted_secret = $3, encrypted_previous_secret = $4, "
    "previous_secret_expires_at = $5, event_types = $6, integration_ids = $7, active = $8, "
    "deactivated_reason = $9, name = $10, version = version + 1 WHERE id = $1"};
constexpr Sql kDeletePending{
    "DELETE FROM webhook_sends WHERE status = 'pending' AND id IN (SELECT id FROM webhook_sends"
    " WHERE subscription_id = $1 AND status = 'pending' ORDER BY due_at, id LIMIT $2)"};
constexpr Sql kDelete{"DELETE FROM webhook_subscriptions WHERE id = $1"};
constexpr Sql kDeleteRecovery{"DELETE FROM webhook_recoveries WHERE subscription_id = $1"};
constexpr Sql kAttempts{
    "SELECT a.id, e.uuid, e.type, e.delivery_id, a.at, a.status_code, a.duration_ms, a.outcome, a.answer, "
    "a.content_type"
    " FROM webhook_attempts a LEFT JOIN outbound_events e ON e.id = a.event_id"
    " WHERE a.subscription_id = $1 AND a.id < $2 ORDER BY a.id DESC LIMIT $3"};

constexpr Sql kNewestAttempts{
    "SELECT at, status_code, outcome, duration_ms FROM webhook_attempts WHERE subscription_id = $1"
    " ORDER BY id DESC LIMIT $2"};
// Counted here: of a count over a limited number of rows SQLite may choose another index.
constexpr Sql kWaiting{
    "SELECT id FROM webhook_sends WHERE subscription_id = $1 AND status = 'pending' ORDER BY due_at, id "
    "LIMIT $2"};
constexpr Sql kInTrouble{
    "SELECT id FROM webhook_subscriptions WHERE failing_since IS NOT NULL AND failing_since <= $5 AND"
    " ((failing_told_at IS NULL AND deactivated_reason = 'receiver_gone')"
    " OR (failing_told_at IS NULL AND active = 1 AND failing_since <= $1 AND failing_last_at > failing_since)"
    " OR (failing_told_at <= $2 AND active = 1 AND failing_last_at - failing_since >= $3))"
    " ORDER BY failing_since LIMIT $4"};
constexpr Sql kNoteTold{"UPDATE webhook_subscriptions SET failing_told_at = $2 WHERE id = $1"};
constexpr Sql kTurnOff{
    "UPDATE webhook_subscriptions SET active = 0, deactivated_reason = 'failing', ready_at = NULL,"
    " version = version + 1 WHERE id = $1"};
constexpr Sql kForgetFailures{
    "UPDATE webhook_subscriptions SET failing_since = NULL, failing_last_at = NULL, failing_told_at = NULL"
    " WHERE id = $1"};

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : ",").append(word);
  return text;
}

// In the text form of ids: what event_store.h compares with.
std::string join(const std::vector<IntegrationId>& ids) {
  std::vector<std::string> words;
  for (const auto id : ids) words.push_back(to_string(id));
  return join(words);
}

SubscriptionRow read(const Row& r) {
  SubscriptionRow s;
  s.id = r.id<SubscriptionId>(0);
  s.account = r.id<AccountId>(1);
  s.url = r.string(2);
  const Blob secret = r.bytes(3);
  s.encrypted_secret = {secret.begin(), secret.end()};
  if (!r.is_null(4)) {
    const Blob previous = r.bytes(4);
    s.encrypted_previous_secret = {previous.begin(), previous.end()};
  }
  s.previous_secret_expires_at = r.opt_time(5);
  s.event_types = split(r.text(6), ',');
  for (const auto& word : split(r.text(7), ',')) {
    const auto id = parse_id<IntegrationKind>(word);
    if (!id) throw DbError(DbError::Kind::misuse, "a subscription names what is no integration id");
    s.integrations.push_back(*id);
  }
  s.active = r.flag(8);
  s.deactivated_reason = r.string_or_empty(9);
  s.created_at = r.time(10);
  s.version = r.int64(11);
  s.name = r.string(12);
  s.failing_since = r.opt_time(13);
  s.failing_last_at = r.opt_time(14);
  s.failing_told_at = r.opt_time(15);
  return s;
}

Param bytes_or_null(const std::vector<std::byte>& b) {
  return b.empty() ? Param(nullptr) : Param(Blob(b));
}
Param text_or_null(const std::string& text) {
  return text.empty() ? Param(nullptr) : Param(text);
}

}  // namespace

void insert_subscription(Tx& tx, const SubscriptionRow& s) {
  tx.exec(kInsert, s.id, s.account, s.url, Blob(s.encrypted_secret),
          bytes_or_null(s.encrypted_previous_secret), s.previous_secret_expires_at, join(s.event_types),
          join(s.integrations), s.active, text_or_null(s.deactivated_reason), s.created_at, s.version,
          s.name);
  tx.changes().push_back(changed(ChangeKind::subscription, s.account, s.id));
}
std::optional<SubscriptionRow> find_subscription(Tx& tx, SubscriptionId id) {
  return tx.one(kFind, id, read);
}
std::optional<SubscriptionRow> lock_subscription(Tx& tx, SubscriptionId id) {
  return tx.one(kLock, id, read);
}

std::vector<SubscriptionRow> list_subscriptions(Tx& tx, AccountId account, std::int64_t before, int limit) {
  std::vector<SubscriptionRow> rows;
  tx.query(kList, account, before, limit, [&](const Row& r) { rows.push_back(read(r)); });
  return rows;
}
std::int64_t count_subscriptions(Tx& tx, AccountId account) {
  return tx.one(kCount, account, [](const Row& r) { return r.int64(0); }).value_or(0);
}

void update_subscription(Tx& tx, SubscriptionRow& s) {
  tx.exec(kUpdate, s.id, s.url, Blob(s.encrypted_secret), bytes_or_null(s.encrypted_previous_secret),
          s.previous_secret_expires_at, join(s.event_types), join(s.integrations), s.active,
          text_or_null(s.deactivated_reason), s.name);
  ++s.version;
  tx.changes().push_back(changed(ChangeKind::subscription, s.account, s.id));
}
void delete_subscription(Tx& tx, SubscriptionId id) {
  tx.exec(kDelete, id);
  tx.exec(kDeleteRecovery, id);
  delete_pending_sends(tx, id, kSendsPiece);
}
std::int64_t delete_pending_sends(Tx& tx, SubscriptionId id, int limit) {
  return tx.exec(kDeletePending, id, limit);
}

SubscriptionHealth find_subscription_health(Tx& tx, SubscriptionId subscription) {
  SubscriptionHealth health;
  std::vector<std::int64_t> durations;
  tx.query(kNewestAttempts, subscription, SubscriptionHealth::attempts_looked_at, [&](const Row& r) {
    health.recent.push_back({.status_code = r.opt_int64(1), .outcome = r.string(2)});
    durations.push_back(r.int64(3));
    if (!health.last_attempt_at) {
      health.last_attempt_at = r.time(0);
      health.last_status_code = r.opt_int64(1);
      health.last_outcome = r.string(2);
    }
    if (health.last_success_at) return;
    if (r.text(2) == "succeeded") {
      health.last_success_at = r.time(0);
    } else {
      ++health.failures_in_a_row;
    }
  });
  if (!durations.empty()) {
    const auto middle = durations.begin() + (std::ssize(durations) - 1) / 2;
    std::ranges::nth_element(durations, middle);
    health.p50_ms = *middle;
  }
  std::int64_t waiting = 0;
  tx.query(kWaiting, subscription, SubscriptionHealth::waiting_counted + 1, [&](const Row&) { ++waiting; });
  if (waiting <= SubscriptionHealth::waiting_counted) health.waiting_count = waiting;
  return health;
}

std::vector<SubscriptionId> find_subscriptions_in_trouble(Tx& tx, const TroubleRules& rules, int limit) {
  std::vector<SubscriptionId> ids;
  tx.query(kInTrouble, rules.now - rules.told_after, rules.now - rules.told_before,
           std::int64_t{rules.off_after.count()}, limit, rules.now,
           [&](const Row& r) { ids.push_back(r.id<SubscriptionId>(0)); });
  return ids;
}

std::optional<SubscriptionTrouble> trouble_of(const SubscriptionRow& row, const TroubleRules& rules) {
  if (!row.failing_since || !row.failing_last_at) return std::nullopt;
  if (!row.failing_told_at) {
    if (row.deactivated_reason == kReceiverGone) return SubscriptionTrouble::gone;
    const bool long_enough =
        *row.failing_since <= rules.now - rules.told_after && *row.failing_last_at > *row.failing_since;
    return row.active && long_enough ? std::optional(SubscriptionTrouble::failing) : std::nullopt;
  }
  const bool for_good = *row.failing_told_at <= rules.now - rules.told_before &&
                        *row.failing_last_at - *row.failing_since >= rules.off_after;
  return row.active && for_good ? std::optional(SubscriptionTrouble::off) : std::nullopt;
}

void note_told(Tx& tx, SubscriptionRow& row, bool off) {
  row.failing_told_at = tx.now();
  tx.exec(kNoteTold, row.id, tx.now());
  tx.changes().push_back(changed(ChangeKind::subscription, row.account, row.id));
  if (!off) return;
  tx.exec(kTurnOff, row.id);
  row.active = false;
  row.deactivated_reason = kTurnedOff;
  ++row.version;
}

void forget_failures(Tx& tx, SubscriptionRow& row) {
  tx.exec(kForgetFailures, row.id);
  tx.changes().push_back(changed(ChangeKind::subscription, row.account, row.id));
  row.failing_since.reset();
  row.failing_last_at.reset();
  row.failing_told_at.reset();
}

Page<AttemptRow> list_attempts(Tx& tx, SubscriptionId subscription, const PageRequest& page) {
  std::vector<AttemptRow> rows;
  tx.query(kAttempts, subscription, page.before, page.fetch(), [&](const Row& r) {
    rows.push_back({r.id<AttemptId>(0), r.string_or_empty(1), r.string_or_empty(2),
                    r.id_or_none<DeliveryId>(3), r.time(4), r.opt_int64(5), r.int64(6), r.string(7),
                    r.string(8), r.string(9)});
  });
  return make_page(std::move(rows), page, [](const AttemptRow& row) { return row.id.value; });
}

}  // namespace presetbridge::storage
