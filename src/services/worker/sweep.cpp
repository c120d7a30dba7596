#include "services/worker/sweep.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "domain/call_reaction.h"
#include "domain/job_class.h"
#include "domain/resolution.h"
#include "domain/retry_schedule.h"
#include "domain/sweep_schedule.h"
#include "services/delivery/delivery_set.h"
#include "services/delivery/routing.h"
#include "services/worker/account_trouble.h"
#include "storage/stores/account_task_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_work.h"

namespace presetbridge::services {
namespace {

using cloud::FriendshipState;
using domain::Cause;
using domain::DeliveryStatus;
using domain::ResolutionCode;
using storage::CustomerRow;
using storage::Friendship;
using storage::Tx;

std::optional<storage::CloudAccountRow> lock_own(Tx& tx, const SweepLease& lease) {
  auto account = lock_cloud_account(tx, lease.cloud_account);
  if (!account || account->sweep_fence != lease.fence || !account->sweep_lease_expires_at)
    return std::nullopt;
  return account;
}

void queue_job(DeliverySet& set, const CustomerRow& customer,
               domain::JobClass job_class = domain::JobClass::share) {
  set.enqueue(customer.id, job_class, set.now());
  wake_cloud_account(set.tx(), customer.cloud_account, set.now());
}

bool any_open(DeliverySet& set, const CustomerRow& customer) {
  set.save();
  return !lock_open_deliveries(set.tx(), std::array{customer.id}, 1).empty();
}

// A transaction resumes so many deliveries that had failed for lack of an answer.
constexpr int kMostResumed = 500;
constexpr Millis kSoon = std::chrono::hours{24};

// The customer accepted at `at`. A job may have noted that before; deliveries that failed meanwhile resume all
// the same, `left` of them, which is counted down. If there may be more, the change is not taken in yet.
void accepted(DeliverySet& set, CustomerRow& customer, Timestamp at, int& left) {
  // Rows of former versions do not say since when they waited: since the request, if its time is known.
  auto failed = lock_unanswered_of_customer(set.tx(), customer.id, customer.requested_at.value_or(set.now()),
                                            set.now() - domain::kFriendshipResumeWindow, left);
  left -= static_cast<int>(failed.size());
  const bool news = customer.friendship != Friendship::friends;
  customer.friendship = Friendship::friends;
  if (left > 0) customer.friendship_changed_at = at;
  set.put(customer);
  for (auto* const row : set.adopt(std::move(failed))) {
    resume(set, *row);
    set.forget_orders();
  }
  if (news && any_open(set, customer)) queue_job(set, customer);
}

void end_waiting(DeliverySet& set, storage::DeliveryRow& row, ResolutionCode code) {
  if (row.status != DeliveryStatus::waiting_for_friendship) return;
  set.apply(row, {.cause = Cause::friendship_ended, .code = code});
}

void not_friends(DeliverySet& set, const SweepLease& lease, CustomerRow& customer,
                 const cloud::FriendshipChange& change) {
  customer.friendship_changed_at = change.changed_at;
  // A request that is gone within a day was most likely refused: it is not made again and again.
  const bool requested = customer.friendship == Friendship::requested;
  const bool soon = requested && customer.requested_at && change.changed_at - *customer.requested_at < kSoon;
  switch (change.state == FriendshipState::none && soon ? FriendshipState::declined : change.state) {
    case FriendshipState::declined:
    case FriendshipState::blocked: {
      // A request made since the sweep began, or since the refusal, may stand, and the refusal be of the
      // request before it: a job looks up the friendship.
      if (customer.friendship == Friendship::requested &&
          customer.requested_at >= std::min(lease.began, change.changed_at)) {
        customer.friendship = Friendship::unknown;
        set.put(customer);
        if (any_open(set, customer)) queue_job(set, customer, domain::JobClass::first_request);
        return;
      }
      const bool blocked = change.state == FriendshipState::blocked;
      customer.friendship = blocked ? Friendship::blocked : Friendship::declined;
      set.put(customer);
      const auto open =
          set.adopt(lock_open_deliveries(set.tx(), std::array{customer.id}, kMostOpenOfCustomer));
      for (auto* const row : open) {
        end_waiting(set, *row,
                    blocked ? ResolutionCode::blocked_by_customer : ResolutionCode::friend_request_declined);
      }
      // Further deliveries fail in the jobs of the customer.
      if (std::ssize(open) == kMostOpenOfCustomer) queue_job(set, customer);
      return;
    }
    case FriendshipState::none:
      // The customer ended the friendship; the next delivery makes a new request.
      if (customer.friendship == Friendship::friends) customer.friendship = Friendship::none;
      if (!requested) return set.put(customer);
      // The request is gone, or a newer one stands: a job looks it up, and makes another one if none does.
      customer.friendship = Friendship::unknown;
      set.put(customer);
      if (any_open(set, customer)) queue_job(set, customer, domain::JobClass::first_request);
      return;
    case FriendshipState::requested:
    case FriendshipState::friends:
      return set.put(customer);
  }
}

// `left`: the failed deliveries that may be resumed.
void take_in_change(DeliverySet& set, const SweepLease& lease, const cloud::FriendshipChange& change,
                    int& left) {
  auto found = find_customer_by_cloud_user(set.tx(), lease.cloud_account, change.user_id);
  if (!found) return;
  auto customer = set.customer(found->id);
  // Sweeps overlap, and a full one reads everything again.
  if (customer->friendship_changed_at && change.changed_at <= *customer->friendship_changed_at) return;
  if (change.state == FriendshipState::friends) return accepted(set, *customer, change.changed_at, left);
  not_friends(set, lease, *customer, change);
}

}  // namespace

TakenIn take_in_page(Tx& tx, DeliveryChanges& changes, const WorkerOptions& options, const SweepLease& lease,
                     const std::string& cursor, const cloud::FriendshipPage& page) {
  // The changes are true whoever holds the lease by now. The account is locked after the customers, as in
  // jobs, which wake it, and the customers by their ids, not in the order of the page.
  std::vector<storage::CloudUserKey> users;
  for (const auto& change : page.changes) users.push_back({lease.cloud_account, change.user_id});
  std::vector<CustomerId> customers;
  for (const auto& customer : find_customers_by_cloud_user(tx, users)) customers.push_back(customer.id);
  hold_customers(tx, std::move(customers));
  // Where a page has several changes of one customer, the last one counts.
  std::set<std::string_view> seen;
  int left = kMostResumed;
  for (auto change = page.changes.rbegin(); left > 0 && change != page.changes.rend(); ++change) {
    if (!seen.insert(change->user_id).second) continue;
    DeliverySet set(tx, changes);
    take_in_change(set, lease, *change, left);
    set.save();
  }
  auto account = lock_own(tx, lease);
  if (!account) return TakenIn::lease_lost;
  account->sweep_lease_expires_at = tx.now() + options.lease;
  if (left == 0) {
    update_cloud_account(tx, *account);
    return TakenIn::in_part;
  }
  if (!page.changes.empty() || account->sweep_cursor.empty()) account->sweep_cursor = cursor;
  note_sweep_success(tx, *account);
  update_cloud_account(tx, *account);
  return TakenIn::whole;
}

int expire_waiting(Tx& tx, DeliveryChanges& changes, const SweepLease& lease, int limit) {
  const Timestamp until = tx.now() - domain::kFriendshipTimeout;
  // Rows of former versions do not say since when they wait: since the request, if its time is known.
  auto found = find_waiting_unknown(tx, lease.cloud_account, limit);
  const auto timed_out = find_waiting(tx, lease.cloud_account, until, limit - static_cast<int>(found.size()));
  found.insert(found.end(), timed_out.begin(), timed_out.end());
  std::ranges::sort(found);
  hold_customers_of(tx, found);
  int changed = 0;
  DeliverySet set(tx, changes);
  for (const auto id : found) {
    // Before the lock the customer may have answered, or the delivery have been retried; and a customer who
    // has accepted is not waited for.
    auto* const row = set.delivery(id);
    if (row == nullptr || row->status != DeliveryStatus::waiting_for_friendship) continue;
    const auto customer = find_customer(tx, row->customer);
    const bool unknown = !row->waiting_since;
    if (unknown) {
      row->waiting_since = customer && customer->requested_at ? *customer->requested_at : row->updated_at;
      set.changed(*row);
    }
    const bool waits = customer && customer->friendship == Friendship::requested;
    const bool ends = waits && *row->waiting_since <= until;
    if (ends) end_waiting(set, *row, ResolutionCode::friendship_timeout);
    changed += unknown || ends ? 1 : 0;
  }
  set.save();
  return changed;
}

void end_sweep(Tx& tx, const WorkerOptions& options, const SweepLease& lease, bool read) {
  auto account = lock_own(tx, lease);
  if (!account) return;
  const Timestamp now = tx.now();
  if (read) {
    account->last_sweep_at = now;
    if (account->full_sweep_under_way) account->last_full_sweep_at = now;
    account->full_sweep_under_way = false;
  }
  account->sweep_lease_expires_at.reset();
  auto next =
      domain::next_sweep({.awaited = any_awaited(tx, account->id, now - domain::kFriendshipResumeWindow),
                          .queued = count_queued_deliveries(tx, account->id, domain::kBusyQueue + 1),
                          .newest_request_at = account->newest_request_at,
                          .last_sweep_at = now,
                          .last_full_sweep_at = account->last_full_sweep_at});
  if (next && account->newest_request_at) {
    // This sweep may have begun before the newest request: the first sweep after that is still to come.
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
  account->sweep_lease_expires_at.reset();
  const auto reaction = domain::react(domain::CallKind::list_changes, error.kind, false).reaction;
  if (reaction == domain::Reaction::restart) {
    account->full_sweep_under_way = true;
    account->sweep_cursor.clear();
  }
  if (reaction == domain::Reaction::wait) {
    account->sweep_due_at = tx.now() + domain::kWhileBusy;
  } else {
    note_sweep_failure(tx, *account, reaction == domain::Reaction::pause, error.retry_after);
  }
  update_cloud_account(tx, *account);
  wake_cloud_account(tx, account->id, *account->sweep_due_at);
}

}  // namespace presetbridge::services
