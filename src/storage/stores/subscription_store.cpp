#include "storage/stores/subscription_store.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

// integration_ids are in the text form of ids, which event_store.h compares.
constexpr std::tuple kColumns{
    Column{"id", &SubscriptionRow::id, Update::key},
    Column{"account_id", &SubscriptionRow::account, Update::no},
    Column{"url", &SubscriptionRow::url},
    Column{"encrypted_secret", &SubscriptionRow::encrypted_secret},
    Column{"encrypted_previous_secret", &SubscriptionRow::encrypted_previous_secret, kEmptyIsNull},
    Column{"previous_secret_expires_at", &SubscriptionRow::previous_secret_expires_at},
    Column{"encrypted_older_secret", &SubscriptionRow::encrypted_older_secret, kEmptyIsNull},
    Column{"older_secret_expires_at", &SubscriptionRow::older_secret_expires_at},
    Column{"event_types", &SubscriptionRow::event_types, kSeparated<','>},
    Column{"integration_ids", &SubscriptionRow::integrations, kSeparated<','>},
    Column{"narrowed_at", &SubscriptionRow::narrowed_at},
    Column{"active", &SubscriptionRow::active},
    Column{"deactivated_reason", &SubscriptionRow::deactivated_reason, kEmptyIsNull},
    Column{"created_at", &SubscriptionRow::created_at, Update::no},
    Column{"version", &SubscriptionRow::version, Update::no},
    Column{"name", &SubscriptionRow::name},
    Column{"failing_since", &SubscriptionRow::failing_since, Update::no},
    Column{"failing_last_at", &SubscriptionRow::failing_last_at, Update::no},
    Column{"failing_told_at", &SubscriptionRow::failing_reported_at, Update::no},
};
constexpr auto read_subscription = read_row<SubscriptionRow, kColumns>;

constexpr Sql kInsert = sql<"INSERT INTO webhook_subscriptions ", kInsertion<kColumns>>;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM webhook_subscriptions WHERE id = $1">;
constexpr Sql kFindActive{"SELECT id FROM webhook_subscriptions WHERE id = $1 AND active = 1"};
constexpr Sql kLock =
    sql<"SELECT ", kSelected<kColumns>, " FROM webhook_subscriptions WHERE id = $1 <for_update>">;
constexpr Sql kList =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM webhook_subscriptions WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3">;
constexpr Sql kCount{"SELECT count(*) FROM webhook_subscriptions WHERE account_id = $1"};
constexpr Sql kUpdate = sql<"UPDATE webhook_subscriptions SET ", kAssigned<kColumns>,
                            ", version = version + 1 WHERE ", kKeyed<kColumns>>;
constexpr Sql kDeleteAttemptsOfPending{
    "DELETE FROM webhook_attempts WHERE send_id IN (SELECT id FROM webhook_sends"
    " WHERE subscription_id = $1 AND status = 'pending' ORDER BY due_at, id LIMIT $2)"};
// A dispatch that came to wait after its attempts were read is left for the next batch.
constexpr Sql kDeletePending{
    "DELETE FROM webhook_sends WHERE status = 'pending' AND id IN (SELECT id FROM webhook_sends"
    " WHERE subscription_id = $1 AND status = 'pending' ORDER BY due_at, id LIMIT $2)"
    " AND NOT EXISTS (SELECT 1 FROM webhook_attempts WHERE webhook_attempts.send_id = webhook_sends.id)"};
constexpr Sql kDelete{"DELETE FROM webhook_subscriptions WHERE id = $1"};
constexpr Sql kDeleteRecovery{"DELETE FROM webhook_recoveries WHERE subscription_id = $1"};
constexpr std::tuple kAttemptColumns{
    Column{"a.id", &AttemptRow::id},
    Column{"e.uuid", &AttemptRow::event_uuid, kEmptyIsNull},
    Column{"e.type", &AttemptRow::event_type, kEmptyIsNull},
    Column{"e.delivery_id", &AttemptRow::delivery},
    Column{"a.at", &AttemptRow::at},
    Column{"a.status_code", &AttemptRow::status_code},
    Column{"a.duration_ms", &AttemptRow::duration_ms},
    Column{"a.outcome", &AttemptRow::outcome},
    Column{"a.answer", &AttemptRow::answer},
    Column{"a.content_type", &AttemptRow::content_type},
};
constexpr Sql kAttempts = sql<"SELECT ", kSelected<kAttemptColumns>,
                              " FROM webhook_attempts a LEFT JOIN outbound_events e ON e.id = a.event_id"
                              " WHERE a.subscription_id = $1 AND a.id < $2 ORDER BY a.id DESC LIMIT $3">;
constexpr Sql kNewestAttempts{
    "SELECT at, status_code, outcome, duration_ms FROM webhook_attempts WHERE subscription_id = $1"
    " ORDER BY id DESC LIMIT $2"};
// The code counts the rows: for a count over a limited number of rows SQLite may choose another index.
constexpr Sql kWaiting{
    "SELECT id FROM webhook_sends WHERE subscription_id = $1 AND status = 'pending' ORDER BY due_at, id "
    "LIMIT $2"};
constexpr Sql kInTrouble{
    "SELECT id FROM webhook_subscriptions WHERE failing_since IS NOT NULL AND failing_since <= $5 AND"
    " ((failing_told_at IS NULL AND deactivated_reason = 'receiver_gone')"
    " OR (failing_told_at IS NULL AND active = 1 AND failing_since <= $1 AND failing_last_at > failing_since)"
    " OR (failing_told_at <= $2 AND active = 1 AND failing_last_at - failing_since >= $3))"
    " ORDER BY failing_since LIMIT $4"};
constexpr Sql kNoteReported{"UPDATE webhook_subscriptions SET failing_told_at = $2 WHERE id = $1"};
constexpr Sql kTurnOff{
    "UPDATE webhook_subscriptions SET active = 0, deactivated_reason = 'failing', ready_at = NULL,"
    " version = version + 1 WHERE id = $1"};
constexpr Sql kForgetFailures{
    "UPDATE webhook_subscriptions SET failing_since = NULL, failing_last_at = NULL, failing_told_at = NULL"
    " WHERE id = $1"};

}  // namespace

void insert_subscription(Tx& tx, const SubscriptionRow& s) {
  Texts texts;
  tx.exec_params(kInsert, insert_params<kColumns>(s, texts));
  tx.changes().push_back(changed(ChangeKind::subscription, s.account, s.id));
}
std::optional<SubscriptionRow> find_subscription(Tx& tx, SubscriptionId id) {
  return tx.one(kFind, id, read_subscription);
}
std::vector<SubscriptionId> find_active_subscriptions(Tx& tx, std::span<const SubscriptionId> ids) {
  std::vector<SubscriptionId> active;
  tx.query_each(kFindActive, 1, params_of(ids),
                [&](std::size_t, const Row& r) { active.push_back(r.id<SubscriptionId>(0)); });
  return active;
}
std::optional<SubscriptionRow> lock_subscription(Tx& tx, SubscriptionId id) {
  return tx.one(kLock, id, read_subscription);
}

std::vector<SubscriptionRow> list_subscriptions(Tx& tx, AccountId account, std::int64_t before, int limit) {
  std::vector<SubscriptionRow> rows;
  tx.query(kList, account, before, limit, [&](const Row& r) { rows.push_back(read_subscription(r)); });
  return rows;
}
std::int64_t count_subscriptions(Tx& tx, AccountId account) {
  return tx.one(kCount, account, [](const Row& r) { return r.int64(0); }).value_or(0);
}

void update_subscription(Tx& tx, SubscriptionRow& s) {
  Texts texts;
  tx.exec_params(kUpdate, update_params<kColumns>(s, texts));
  ++s.version;
  tx.changes().push_back(changed(ChangeKind::subscription, s.account, s.id));
}
void delete_subscription(Tx& tx, SubscriptionId id) {
  tx.exec(kDelete, id);
  tx.exec(kDeleteRecovery, id);
  delete_pending_dispatches(tx, id, kDispatchBatch);
}
std::int64_t delete_pending_dispatches(Tx& tx, SubscriptionId id, int limit) {
  tx.exec(kDeleteAttemptsOfPending, id, limit);
  return tx.exec(kDeletePending, id, limit);
}

SubscriptionHealth find_subscription_health(Tx& tx, SubscriptionId subscription) {
  SubscriptionHealth health;
  std::vector<std::int64_t> durations;
  tx.query(kNewestAttempts, subscription, SubscriptionHealth::attempts_read, [&](const Row& r) {
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
  tx.query(kInTrouble, rules.now - rules.report_after, rules.now - rules.report_before,
           std::int64_t{rules.off_after.count()}, limit, rules.now,
           [&](const Row& r) { ids.push_back(r.id<SubscriptionId>(0)); });
  return ids;
}

std::optional<SubscriptionTrouble> trouble_of(const SubscriptionRow& row, const TroubleRules& rules) {
  if (!row.failing_since || !row.failing_last_at) return std::nullopt;
  if (!row.failing_reported_at) {
    if (row.deactivated_reason == kReceiverGone) return SubscriptionTrouble::gone;
    const bool long_enough =
        *row.failing_since <= rules.now - rules.report_after && *row.failing_last_at > *row.failing_since;
    return row.active && long_enough ? std::optional(SubscriptionTrouble::failing) : std::nullopt;
  }
  const bool for_good = *row.failing_reported_at <= rules.now - rules.report_before &&
                        *row.failing_last_at - *row.failing_since >= rules.off_after;
  return row.active && for_good ? std::optional(SubscriptionTrouble::off) : std::nullopt;
}

void note_reported(Tx& tx, SubscriptionRow& row, bool off) {
  row.failing_reported_at = tx.now();
  tx.exec(kNoteReported, row.id, tx.now());
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
  row.failing_reported_at.reset();
}

Page<AttemptRow> list_attempts(Tx& tx, SubscriptionId subscription, const PageRequest& page) {
  std::vector<AttemptRow> rows;
  tx.query(kAttempts, subscription, page.before, page.fetch(),
           [&](const Row& r) { rows.push_back(read_row<AttemptRow, kAttemptColumns>(r)); });
  return make_page(std::move(rows), page, [](const AttemptRow& row) { return row.id.value; });
}

}  // namespace presetbridge::storage
