#include "storage/stores/cloud_account_store.h"

#include <tuple>

#include "domain/trouble.h"
#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"id", &CloudAccountRow::id, Update::key},
    Column{"cloud_user_id", &CloudAccountRow::cloud_user_id, Update::no},
    Column{"username", &CloudAccountRow::username, Update::no},
    Column{"ready_at", &CloudAccountRow::ready_at},
    Column{"blocked_until", &CloudAccountRow::blocked_until},
    Column{"start_log", &CloudAccountRow::start_log},
    Column{"job_turns", &CloudAccountRow::job_turns},
    Column{"trouble", &CloudAccountRow::trouble},
    Column{"sweep_due_at", &CloudAccountRow::sweep_due_at},
    Column{"sweep_cursor", &CloudAccountRow::sweep_cursor},
    Column{"full_sweep_under_way", &CloudAccountRow::full_sweep_under_way},
    Column{"last_sweep_at", &CloudAccountRow::last_sweep_at},
    Column{"last_full_sweep_at", &CloudAccountRow::last_full_sweep_at},
    Column{"newest_request_at", &CloudAccountRow::newest_request_at},
    Column{"sweep_fence", &CloudAccountRow::sweep_fence},
    Column{"sweep_lease_expires_at", &CloudAccountRow::sweep_lease_expires_at},
    Column{"probe_due_at", &CloudAccountRow::probe_due_at},
    Column{"probed_to", &CloudAccountRow::probed_to},
};
constexpr auto read_cloud_account = read_row<CloudAccountRow, kColumns>;

// Older programs have `pause` instead of `trouble`; this text means none.
constexpr Sql kInsert{
    "INSERT INTO cloud_accounts (id, cloud_user_id, username, start_log, pause) VALUES ($1, $2, $3, $4, '0 0 "
    "0')"
    " ON CONFLICT (cloud_user_id) DO UPDATE SET username = excluded.username RETURNING id"};
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM cloud_accounts WHERE id = $1">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM cloud_accounts WHERE id = $1 <for_update>">;
constexpr Sql kLockReady =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM cloud_accounts WHERE ready_at IS NOT NULL AND ready_at >= $1 AND ready_at <= $2"
        " ORDER BY ready_at LIMIT $3 <lock>">;
constexpr Sql kLockExpiredSweeps =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM cloud_accounts WHERE sweep_lease_expires_at IS NOT NULL AND sweep_lease_expires_at <= $1"
        " ORDER BY sweep_lease_expires_at LIMIT $2 <lock>">;
constexpr Sql kNextReady{
    "SELECT ready_at FROM cloud_accounts WHERE ready_at IS NOT NULL AND ready_at >= $1"
    " ORDER BY ready_at LIMIT 1"};
constexpr Sql kUpdate = sql<"UPDATE cloud_accounts SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;
// All that brings an account's work forward is one statement, so that a transaction goes through the
// accounts once: $2 work, $3 a sweep unless one is due or under way, $4 a sweep after a friend request,
// sent at $5.
#define PDB_SWEEP_MISSING                                                                             \
  "(CAST($3 AS BIGINT) IS NOT NULL AND CAST($4 AS BIGINT) IS NULL AND sweep_due_at IS NULL AND sweep" \
  "_lease_expires_at IS NULL)"
#define PDB_WORK_IS_EARLIER                                                                              \
  "(CAST($2 AS BIGINT) IS NOT NULL AND (ready_at IS NULL OR (ready_at > $2 AND ready_at > blocked_until" \
  ")))"
constexpr Wake kWake{
    1,
    {"UPDATE cloud_accounts SET newest_request_at = COALESCE($5, newest_request_at),"
     " sweep_due_at = CASE WHEN " PDB_SWEEP_MISSING " THEN $3 WHEN sweep_due_at < $4 THEN sweep_due_at"
     " ELSE COALESCE($4, sweep_due_at) END,"
     " ready_at = CASE WHEN " PDB_SWEEP_MISSING
     " AND (ready_at IS NULL OR (ready_at > $3 AND ready_at > blocked_until))"
     " AND $3 <= COALESCE(CAST($2 AS BIGINT), $3)"
     " THEN CASE WHEN blocked_until > $3 THEN blocked_until ELSE $3 END"
     " WHEN " PDB_WORK_IS_EARLIER
     " THEN CASE WHEN blocked_until > $2 THEN blocked_until ELSE $2 END ELSE ready_at END"
     " WHERE id = $1 AND (CAST($4 AS BIGINT) IS NOT NULL OR " PDB_SWEEP_MISSING " OR " PDB_WORK_IS_EARLIER
     ")"},
    4};
// From one account with customers in the queue to the next, by one search in an index each: most accounts
// have none, and are not read.
constexpr Sql kForgotten{
    "WITH RECURSIVE queued (account) AS ("
    "SELECT (SELECT cloud_account_id FROM customers WHERE queue_state = 1 ORDER BY cloud_account_id LIMIT 1)"
    " UNION ALL SELECT (SELECT cloud_account_id FROM customers WHERE cloud_account_id > queued.account"
    " AND queue_state = 1 ORDER BY cloud_account_id LIMIT 1) FROM queued WHERE queued.account IS NOT NULL)"
    // Not joined, which could read whole tables: each is read by its key.
    " SELECT queued.account FROM queued WHERE 1 = (SELECT 1 FROM cloud_accounts WHERE id = queued.account"
    " AND blocked_until <= $1 AND (ready_at IS NULL OR ready_at > $1))"
    " AND 1 = (SELECT 1 FROM customers WHERE cloud_account_id = queued.account AND due_at <= $1"
    " AND queue_state = 1 LIMIT 1) LIMIT $2"};
// In one call; the next one finds the others.
constexpr int kMostWoken = 10'000;
constexpr Sql kPostpone{
    "UPDATE cloud_accounts SET ready_at = $2,"
    " blocked_until = CASE WHEN blocked_until > $2 THEN blocked_until ELSE $2 END WHERE id = $1"};
// The code leaves out those without trouble: PostgreSQL expects few with some, and would read all accounts
// to find them.
constexpr Sql kInTrouble{"SELECT id, trouble FROM cloud_accounts WHERE id = $1"};
constexpr Sql kDueProbes{
    "SELECT id FROM cloud_accounts WHERE probe_due_at IS NOT NULL AND probe_due_at <= $1"
    " ORDER BY probe_due_at LIMIT $2"};
constexpr Sql kEnsureProbe{
    "UPDATE cloud_accounts SET probe_due_at = $2 WHERE id = $1 AND probe_due_at IS NULL"};
constexpr Sql kPostponeProbe{
    "UPDATE cloud_accounts SET probe_due_at = $2, probed_to = COALESCE((SELECT id FROM deliveries"
    " WHERE deliveries.cloud_account_id = $1 AND deliveries.id > cloud_accounts.probed_to"
    " AND deliveries.probe_until IS NOT NULL ORDER BY deliveries.id LIMIT 1), 0) WHERE id = $1"};
constexpr Sql kLockWindow{"SELECT log FROM service_windows WHERE name = $1 <lock>"};
constexpr Sql kMakeWindow{
    "INSERT INTO service_windows (name, log) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"};
constexpr Sql kPutWindow{"UPDATE service_windows SET log = $2 WHERE name = $1"};
constexpr Sql kAnyQueuedDelivery{
    "SELECT 1 FROM customers JOIN deliveries ON deliveries.customer_id = customers.id"
    " AND deliveries.open = 1 AND (deliveries.status = 'queued'"
    " OR (deliveries.status = 'waiting_for_friendship' AND customers.friendship = 'friends'))"
    " WHERE customers.cloud_account_id = $1 AND customers.queue_state = 1 LIMIT 1"};
constexpr Sql kAccountsOf{
    "SELECT id FROM accounts WHERE cloud_account_id = $1 AND credentials_status = 'valid' ORDER BY id"};

template <class... P>
std::vector<CloudAccountRow> all_accounts(Tx& tx, const Sql& sql, const P&... params) {
  std::vector<CloudAccountRow> rows;
  tx.query(sql, params..., [&](const Row& r) { rows.push_back(read_cloud_account(r)); });
  return rows;
}

}  // namespace

CloudAccountId find_or_insert_cloud_account(Tx& tx, std::string_view cloud_user_id, std::string_view username,
                                            CloudAccountId proposed) {
  return tx
      .one(kInsert, proposed, cloud_user_id, username, Blob{},
           [](const Row& r) { return r.id<CloudAccountId>(0); })
      .value();
}

std::optional<CloudAccountRow> find_cloud_account(Tx& tx, CloudAccountId id) {
  return tx.one(kFind, id, read_cloud_account);
}
std::optional<CloudAccountRow> lock_cloud_account(Tx& tx, CloudAccountId id) {
  return tx.one(kLock, id, read_cloud_account);
}
void lock_cloud_accounts(Tx& tx, std::span<const CloudAccountId> ids) {
  tx.query_each(kLock, 1, params_of(ids), [](std::size_t, const Row&) {});
}
std::vector<CloudAccountRow> lock_ready_accounts(Tx& tx, Timestamp from, Timestamp now, int limit) {
  return all_accounts(tx, kLockReady, from, now, limit);
}
std::vector<CloudAccountRow> lock_expired_sweeps(Tx& tx, Timestamp now, int limit) {
  return all_accounts(tx, kLockExpiredSweeps, now, limit);
}
std::optional<Timestamp> next_ready(Tx& tx, Timestamp from) {
  return tx.one(kNextReady, from, [](const Row& r) { return r.time(0); });
}

void update_cloud_account(Tx& tx, const CloudAccountRow& row) {
  update_cloud_accounts(tx, std::span(&row, 1));
}
void update_cloud_accounts(Tx& tx, std::span<const CloudAccountRow> rows) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kUpdateWidth<kColumns> * rows.size());
  for (const auto& row : rows) add_update<kColumns>(flat, row, texts);
  tx.update_each(kUpdate, kUpdateWidth<kColumns>, flat);
}

void wake_cloud_account(Tx& tx, CloudAccountId id, Timestamp at) {
  tx.wake(kWake, id, {at, std::nullopt, std::nullopt, std::nullopt});
}

void note_friend_request(Tx& tx, CloudAccountId id, Timestamp sweep_at) {
  tx.wake(kWake, id, {sweep_at, std::nullopt, sweep_at, tx.now()});
}

void ensure_sweep(Tx& tx, CloudAccountId id, Timestamp at) {
  tx.wake(kWake, id, {std::nullopt, at, std::nullopt, std::nullopt});
}

void postpone_cloud_account(Tx& tx, CloudAccountId id, Timestamp until) {
  tx.exec(kPostpone, id, until);
}

bool any_forgotten_account(Tx& tx) {
  return tx.one(kForgotten, tx.now(), 1, [](const Row&) { return true; }).value_or(false);
}
std::int64_t wake_forgotten_accounts(Tx& tx) {
  std::int64_t woken = 0;
  tx.query(kForgotten, tx.now(), kMostWoken, [&](const Row& r) {
    wake_cloud_account(tx, r.id<CloudAccountId>(0), tx.now());
    ++woken;
  });
  return woken;
}

std::vector<CloudAccountId> accounts_in_trouble(Tx& tx, std::span<const CloudAccountId> ids) {
  std::vector<CloudAccountId> found;
  tx.query_each(kInTrouble, 1, params_of(ids), [&](std::size_t, const Row& r) {
    if (!r.text(1).empty()) found.push_back(r.id<CloudAccountId>(0));
  });
  return found;
}

std::vector<CloudAccountId> find_due_probes(Tx& tx, Timestamp now, int limit) {
  std::vector<CloudAccountId> ids;
  tx.query(kDueProbes, now, limit, [&](const Row& r) { ids.push_back(r.id<CloudAccountId>(0)); });
  return ids;
}

void ensure_probe(Tx& tx, CloudAccountId id, Timestamp at) {
  tx.exec(kEnsureProbe, id, at);
}

void postpone_probe(Tx& tx, CloudAccountId id) {
  tx.exec(kPostponeProbe, id, tx.now() + domain::kFailedProbeInterval);
}

std::optional<std::vector<std::byte>> lock_service_window(Tx& tx, std::string_view name) {
  const auto read = [](const Row& r) {
    const Blob log = r.bytes(0);
    return std::vector<std::byte>(log.begin(), log.end());
  };
  if (auto log = tx.one(kLockWindow, name, read)) return log;
  if (tx.exec(kMakeWindow, name, Blob{}) == 0) return std::nullopt;
  return std::vector<std::byte>{};
}

void put_service_window(Tx& tx, std::string_view name, Blob log) {
  tx.exec(kPutWindow, name, log);
}

bool any_queued_delivery(Tx& tx, CloudAccountId id) {
  return tx.one(kAnyQueuedDelivery, id, [](const Row& r) { return r.int64(0); }).has_value();
}

std::vector<AccountId> accounts_of_cloud_account(Tx& tx, CloudAccountId id) {
  std::vector<AccountId> ids;
  tx.query(kAccountsOf, id, [&](const Row& r) { ids.push_back(r.id<AccountId>(0)); });
  return ids;
}

}  // namespace presetbridge::storage
