// Cloud accounts: the merchant's user on the platform, which is the unit of the queue limit, of trouble and
// of friend sweeps (spec 3.4, 3.5). Whoever starts a job holds this row's lock, so what is decided from it is
// exact over all nodes.
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
  std::string sweep_cursor;  // the start of the last page that was taken in: the next sweep begins there
  bool full_sweep_under_way = false;  // begun at the start of all pages, and not at their end yet
  std::optional<Timestamp> last_sweep_at;
  std::optional<Timestamp> last_full_sweep_at;
  std::optional<Timestamp> newest_request_at;
  std::int64_t sweep_fence = 0;
  std::optional<Timestamp> sweep_lease_expires_at;
  // While deliveries are failed as cloud_unavailable: when one of them is tried again, and the last that was
  // (spec 3.5).
  std::optional<Timestamp> probe_due_at;
  DeliveryId probed_to;
};

CloudAccountId find_or_insert_cloud_account(Tx& tx, std::string_view cloud_user_id, std::string_view username,
                                            CloudAccountId proposed);
std::optional<CloudAccountRow> find_cloud_account(Tx& tx, CloudAccountId id);
std::optional<CloudAccountRow> lock_cloud_account(Tx& tx, CloudAccountId id);
// In the order of `ids`.
void lock_cloud_accounts(Tx& tx, std::span<const CloudAccountId> ids);
// Accounts with something to do between `from` and `now`, longest ready first, locked; without those that
// others have locked.
std::vector<CloudAccountRow> lock_ready_accounts(Tx& tx, Timestamp from, Timestamp now, int limit);
std::vector<CloudAccountRow> lock_expired_sweeps(Tx& tx, Timestamp now, int limit);
// When the next account is ready, of those that are not before `from`.
std::optional<Timestamp> next_ready(Tx& tx, Timestamp from);
void update_cloud_account(Tx& tx, const CloudAccountRow& row);
// Each of them once.
void update_cloud_accounts(Tx& tx, std::span<const CloudAccountRow> rows);
// There is work from `at` on: ready_at moves forward to it, or to the end of the block, never back. One in
// the past is found later (services/leases/ready_scan.h).
void wake_cloud_account(Tx& tx, CloudAccountId id, Timestamp at);
// Accounts that are not ready though a customer of theirs is due: a wake-up was lost. On PostgreSQL that
// happens when a transaction sees the account ready already, and so leaves it alone, while the one that
// serves the account does not see that transaction's customer yet.
bool any_forgotten_account(Tx& tx);
std::int64_t wake_forgotten_accounts(Tx& tx);
// A friend request of the account was sent now, or a delivery began to wait for one: the next sweep is due at
// `sweep_at` at the latest. Takes effect when this transaction ends, as the next one does.
void note_friend_request(Tx& tx, CloudAccountId id, Timestamp sweep_at);
// Somebody is waited for: a sweep is due at `at` unless one is due or under way by then.
void ensure_sweep(Tx& tx, CloudAccountId id, Timestamp at);
// Nothing of the account is ready before `until`, whatever wakes it.
void postpone_cloud_account(Tx& tx, CloudAccountId id, Timestamp until);
// Those of the accounts that have trouble, as their rows stand; none is locked.
std::vector<CloudAccountId> accounts_in_trouble(Tx& tx, std::span<const CloudAccountId> ids);
// Accounts of whose failed deliveries one is to be tried again, longest due first.
std::vector<CloudAccountId> find_due_probes(Tx& tx, Timestamp now, int limit);
// One of them is tried at `at`, unless that is known already. The row is locked.
void ensure_probe(Tx& tx, CloudAccountId id, Timestamp at);
// The next one of the account, whose turn failed here, passes over the delivery that it was at: in an hour.
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
