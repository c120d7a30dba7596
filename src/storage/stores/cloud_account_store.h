// Cloud accounts: the merchant's users on the platform. A cloud account is the unit of the queue limit, of
// trouble and of sweeps (spec 3.4, 3.5). A node holds the lock of this row while it starts a job, so that
// decisions from it are exact over all nodes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct CloudAccountRow {
  CloudAccountId id;
  std::string cloud_user_id;
  std::string username;
  std::optional<Timestamp> ready_at;  // when a job may start next; nothing: nothing to do
  Timestamp blocked_until{};
  std::vector<std::byte> start_log;  // domain::RateWindow
  std::int64_t job_turns = 0;        // domain::JobTurns
  std::string trouble;               // domain::AccountTrouble; empty: none
  std::optional<Timestamp> sweep_due_at;
  std::string sweep_cursor;  // the start of the last page that was processed: the next sweep begins there
  bool full_sweep_under_way = false;  // begun at the start of all pages, and not at their end yet
  std::optional<Timestamp> last_sweep_at;
  std::optional<Timestamp> last_full_sweep_at;
  std::optional<Timestamp> newest_request_at;
  std::int64_t sweep_fence = 0;
  std::optional<Timestamp> sweep_lease_expires_at;
  // While deliveries are failed as cloud_unavailable: when one of them is probed next, and the last one
  // that was (spec 3.5).
  std::optional<Timestamp> probe_due_at;
  DeliveryId probed_to;
};

CloudAccountId find_or_insert_cloud_account(Tx& tx, std::string_view cloud_user_id, std::string_view username,
                                            CloudAccountId proposed);
std::optional<CloudAccountRow> find_cloud_account(Tx& tx, CloudAccountId id);
std::optional<CloudAccountRow> lock_cloud_account(Tx& tx, CloudAccountId id);
// Locks the rows in the order of `ids`.
void lock_cloud_accounts(Tx& tx, std::span<const CloudAccountId> ids);
// Locks accounts that became ready between `from` and `now`, longest ready first; without those that others
// have locked.
std::vector<CloudAccountRow> lock_ready_accounts(Tx& tx, Timestamp from, Timestamp now, int limit);
std::vector<CloudAccountRow> lock_expired_sweeps(Tx& tx, Timestamp now, int limit);
// The earliest time, at `from` or later, at which an account is ready.
std::optional<Timestamp> next_ready(Tx& tx, Timestamp from);
void update_cloud_account(Tx& tx, const CloudAccountRow& row);
// Each row once.
void update_cloud_accounts(Tx& tx, std::span<const CloudAccountRow> rows);
// There is work from `at` on: unless ready_at is earlier already, it becomes `at`, or blocked_until where
// that is later. A ready_at in the past is found later (services/leases/ready_scan.h).
void wake_cloud_account(Tx& tx, CloudAccountId id, Timestamp at);
// Whether there are accounts that are not ready though a customer of theirs is due, because a wake-up was
// lost; and wakes them, returning how many. On PostgreSQL that happens when a transaction sees that the
// account is ready, and so does not wake it, while the one that serves the account does not yet see that
// transaction's customer.
bool any_forgotten_account(Tx& tx);
std::int64_t wake_forgotten_accounts(Tx& tx);
// A friend request of the account was sent now, or a delivery began to wait for one: the next sweep is due
// at `sweep_at` at the latest. This and ensure_sweep() take effect when the transaction ends.
void note_friend_request(Tx& tx, CloudAccountId id, Timestamp sweep_at);
// A delivery waits for a customer: a sweep is due at `at`, unless one is due already or under way.
void ensure_sweep(Tx& tx, CloudAccountId id, Timestamp at);
// The account is not ready before `until`, whatever wakes it.
void postpone_cloud_account(Tx& tx, CloudAccountId id, Timestamp until);
// The accounts among `ids` that have trouble; locks none.
std::vector<CloudAccountId> accounts_in_trouble(Tx& tx, std::span<const CloudAccountId> ids);
// Accounts that are due to probe one of their failed deliveries, longest due first.
std::vector<CloudAccountId> find_due_probes(Tx& tx, Timestamp now, int limit);
// The account probes one of them at `at`, unless a probe is due already. The caller has locked the row.
void ensure_probe(Tx& tx, CloudAccountId id, Timestamp at);
// The probe failed here: the next one is due in an hour, and passes over the delivery that this one was for.
void postpone_probe(Tx& tx, CloudAccountId id);
// Whether a customer in the account's queue has a delivery that is queued, or waits no more.
bool any_queued_delivery(Tx& tx, CloudAccountId id);
// The tenants whose valid login this is.
std::vector<AccountId> accounts_of_cloud_account(Tx& tx, CloudAccountId id);

// The log of the service's rolling window of that name (spec 3.4), locked; empty where it has not been
// written yet. Nothing if another transaction has it.
std::optional<std::vector<std::byte>> lock_service_window(Tx& tx, std::string_view name);
void put_service_window(Tx& tx, std::string_view name, Blob log);

}  // namespace presetbridge::storage
