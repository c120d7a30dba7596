#include "services/worker/sweep.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "domain/account_pause.h"
#include "domain/job_class.h"
#include "domain/resolution.h"
#include "domain/sweep_schedule.h"
#include "services/delivery/routing.h"
#include "services/worker/account_trouble.h"
#include "storage/chore_store.h"
#include "storage/cloud_account_store.h"
#include "storage/customer_store.h"

namespace presetbridge::services {
namespace {

using cloud::FriendshipState;
using domain::Cause;
using domain::DeliveryStatus;
using domain::ResolutionCode;
using storage::CustomerRow;
using storage::Friendship;
using storage::Tx;

constexpr Millis kAfterFailure{60'000};

std::optional<storage::CloudAccountRow> lock_own(Tx& tx, const SweepLease& lease) {
  auto account = lock_cloud_account(tx, lease.cloud_account);
  if (!account || account->sweep_fence != lease.fence || !account->sweep_lease_expires_at)
    return std::nullopt;
  return account;
}

void accepted(Tx& tx, DeliveryChanges& changes, CustomerRow& customer) {
  const bool resumable =
      !customer.requested_at || domain::friendship_resumable(*customer.requested_at, tx.now());
  customer.friendship = Friendship::friends;
  update_customer(tx, customer);
  for (auto& row : lock_failed_of_customer(tx, customer.id)) {
    if (!resumable || !domain::resumes(row.resolution, domain::Remedy::friendship_accepted)) continue;
    resume(tx, changes, row);
  }
  if (!lock_open_deliveries(tx, customer.id).empty()) {
    enqueue_customer(tx, customer.id, domain::JobClass::share, tx.now());
    wake_cloud_account(tx, customer.cloud_account, tx.now());
  }
}

void end_waiting(Tx& tx, DeliveryChanges& changes, CustomerId customer, ResolutionCode code) {
  for (auto& row : lock_open_deliveries(tx, customer)) {
    if (row.status != DeliveryStatus::waiting_for_friendship) continue;
    changes.apply(tx, row, {.cause = Cause::friendship_ended, .code = code}).value();
  }
}

void take_in_change(Tx& tx, DeliveryChanges& changes, CloudAccountId account,
                    const cloud::FriendshipChange& change) {
  auto found = find_customer_by_cloud_user(tx, account, change.user_id);
  if (!found) return;
  auto customer = lock_customer(tx, found->id);
  // Sweeps overlap, and a full one tells everything again.
  if (customer->friendship_changed_at && change.changed_at <= *customer->friendship_changed_at) return;
  customer->friendship_changed_at = change.changed_at;
  switch (change.state) {
    case FriendshipState::friends:
      if (customer->friendship == Friendship::friends) return update_customer(tx, *customer);
      return accepted(tx, changes, *customer);
    case FriendshipState::declined:
    case FriendshipState::blocked: {
      const bool blocked = change.state == FriendshipState::blocked;
      customer->friendship = blocked ? Friendship::blocked : Friendship::declined;
      update_customer(tx, *customer);
      end_waiting(tx, changes, customer->id,
                  blocked ? ResolutionCode::blocked_by_customer : ResolutionCode::friend_request_declined);
      return;
    }
    case FriendshipState::none:
      // They ended the friendship; the next delivery asks again.
      if (customer->friendship == Friendship::friends) customer->friendship = Friendship::none;
      return update_customer(tx, *customer);
    case FriendshipState::requested:
      return update_customer(tx, *customer);
  }
}

}  // namespace

bool take_in_page(Tx& tx, DeliveryChanges& changes, const WorkerOptions& options, const SweepLease& lease,
                  const std::string& cursor, const cloud::FriendshipPage& page) {
  // News is true whoever holds the lease by now. The account is locked after the customers, as the jobs do it
  // that wake it, and these in their order, not in that of the page.
  std::vector<storage::CloudUserKey> users;
  for (const auto& change : page.changes) users.push_back({lease.cloud_account, change.user_id});
  std::vector<CustomerId> customers;
  for (const auto& customer : find_customers_by_cloud_user(tx, users)) customers.push_back(customer.id);
  hold_customers(tx, std::move(customers));
  // Where a page tells of one customer twice, the last word counts.
  std::set<std::string_view> told;
  for (auto change = page.changes.rbegin(); change != page.changes.rend(); ++change) {
    if (told.insert(change->user_id).second) take_in_change(tx, changes, lease.cloud_account, *change);
  }
  auto account = lock_own(tx, lease);
  if (!account) return false;
  account->sweep_lease_expires_at = tx.now() + options.lease;
  if (!page.changes.empty() || account->sweep_cursor.empty()) account->sweep_cursor = cursor;
  update_cloud_account(tx, *account);
  end_account_trouble(tx, lease.cloud_account);
  return true;
}

int expire_requests(Tx& tx, DeliveryChanges& changes, const SweepLease& lease, int limit) {
  const Timestamp until = tx.now() - domain::kFriendshipTimeout;
  const auto waiting = waiting_since_before(tx, lease.cloud_account, until, limit);
  hold_customers(tx, waiting);
  for (const auto id : waiting) {
    // Another sweep may have told of an answer before the lock.
    const auto customer = lock_customer(tx, id);
    if (customer && customer->friendship == Friendship::requested)
      end_waiting(tx, changes, id, ResolutionCode::friendship_timeout);
  }
  return static_cast<int>(waiting.size());
}

void end_sweep(Tx& tx, const WorkerOptions& options, const SweepLease& lease) {
  auto account = lock_own(tx, lease);
  if (!account) return;
  const Timestamp now = tx.now();
  account->last_sweep_at = now;
  if (account->full_sweep_under_way) account->last_full_sweep_at = now;
  account->full_sweep_under_way = false;
  account->sweep_lease_expires_at.reset();
  const bool awaited = any_requested_since(tx, account->id, now - domain::kFriendshipResumeWindow);
  auto next = domain::next_sweep({.awaited = awaited ? 1 : 0,
                                  .queued = count_queued(tx, account->id, domain::kBusyQueue + 1),
                                  .newest_request_at = account->newest_request_at,
                                  .last_sweep_at = account->last_sweep_at,
                                  .last_full_sweep_at = account->last_full_sweep_at});
  if (next) {
    // This sweep may have come too early for the newest request: the first one after it is still to come.
    const Timestamp first = *account->newest_request_at + options.first_sweep;
    if (first > lease.began) next = std::min(*next, std::max(first, now));
  }
  account->sweep_due_at = next;
  update_cloud_account(tx, *account);
  if (account->sweep_due_at) wake_cloud_account(tx, account->id, *account->sweep_due_at);
}

void fail_sweep(Tx& tx, const SweepLease& lease, const cloud::CloudError& error) {
  auto account = lock_own(tx, lease);
  if (!account) return;
  auto pause = domain::decode_account_pause(account->pause);
  if (pause && error.kind == cloud::CloudError::Kind::rate_limited) {
    pause = domain::after_rate_limit(*std::move(pause), error.retry_after, tx.now());
  }
  // One that cannot be read is the next lease's to tell of and to mend.
  if (pause) account->pause = domain::encode(*pause);
  account->sweep_lease_expires_at.reset();
  // It may be the cursor that the platform refuses, which may have grown too old.
  if (error.kind == cloud::CloudError::Kind::rejected) {
    account->full_sweep_under_way = true;
    account->sweep_cursor.clear();
  }
  const auto next = pause ? domain::next_job_at(*pause, tx.now()) : std::nullopt;
  if (next) account->blocked_until = std::max(account->blocked_until, *next);
  account->sweep_due_at = std::max(tx.now() + kAfterFailure, account->blocked_until);
  update_cloud_account(tx, *account);
  wake_cloud_account(tx, account->id, *account->sweep_due_at);
  if (pause) give_up(tx, account->id, *pause);
}

}  // namespace presetbridge::services
