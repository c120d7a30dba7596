// Cloud accounts: the merchant's user on the platform, which is the unit of the queue limit, of pauses and of
// friend sweeps (spec 3.4, 3.5). Whoever starts a job holds this row's lock, so what is decided from it is
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
  std::string pause;                 // domain::AccountPause
  std::optional<Timestamp> sweep_due_at;
  std::string sweep_cursor;  // the start of the last page that was taken in: the next sweep begins there
  bool full_sweep_under_way = false;  // begun at the start of all pages, and not at their end yet
  std::optional<Timestamp> last_sweep_at;
  std::optional<Timestamp> last_full_sweep_at;
  std::optional<Timestamp> newest_request_at;
  std::int64_t sweep_fence = 0;
  std::optional<Timestamp> sweep_lease_expires_at;
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
// the past is found later (services/ready_look.h).
void wake_cloud_account(Tx& tx, CloudAccountId id, Timestamp at);
// Accounts that are not ready though a customer of theirs is due: a wake-up was lost. On PostgreSQL that
// happens when a transaction sees the account ready already, and so leaves it alone, while the one that
// serves the account does not see that transaction's customer yet.
bool any_forgotten_account(Tx& tx);
std::int64_t wake_forgotten_accounts(Tx& tx);
// A friend request of the account was sent now: its next sweep is due at `sweep_at` at the latest. Takes
// effect when this transaction ends, as the next one does.
void note_friend_request(Tx& tx, CloudAccountId id, Timestamp sweep_at);
// Somebody is waited for: a sweep is due at `at` unless one is due or under way by then.
void ensure_sweep(Tx& tx, CloudAccountId id, Timestamp at);
// Nothing of the account is ready before `until`, whatever wakes it.
void postpone_cloud_account(Tx& tx, CloudAccountId id, Timestamp until);
// Whether a customer in the account's queue has a delivery that is queued.
bool any_queued_delivery(Tx& tx, CloudAccountId id);
// The tenants whose valid login this is.
std::vector<AccountId> accounts_of_cloud_account(Tx& tx, CloudAccountId id);

}  // namespace presetbridge::storage
