#include "services/worker/one_step.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>

#include "domain/delivery_outcome.h"
#include "domain/resolution.h"
#include "domain/retry_schedule.h"
#include "domain/trouble.h"
#include "services/delivery/items.h"
#include "services/delivery/routing.h"
#include "services/worker/account_trouble.h"
#include "services/worker/former_login.h"
#include "services/worker/item_steps.h"
#include "services/worker/job_end.h"
#include "services/worker/share_ledger.h"
#include "storage/chore_store.h"
#include "storage/cloud_account_store.h"
#include "storage/delivery_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using cloud::FriendshipState;
using domain::CallKind;
using domain::DeliveryStatus;
using domain::Finding;
using domain::ItemStatus;
using domain::ResolutionCode;
using storage::Friendship;
using storage::Tx;

}  // namespace

void JobSteps::Step::obey_pending() {
  std::erase_if(deliveries, [&](DeliveryId id) {
    if (set.delivery(id)->pending.kind == domain::PendingActionKind::none) return false;
    // What was begun is settled first, where it can be (spec 3.3).
    const bool settles =
        !job.stop_calling && !job.failed_all && std::ranges::any_of(set.items(id), [&](const auto* item) {
          return item->customer == customer.id && item->status == ItemStatus::sharing &&
                 *item->settle_after <= set.now();
        });
    if (settles) return false;
    return conclude(set, job, customer, id, Finding::worked, ResolutionCode::none);
  });
}

// A failed delivery is tried as those are that the job has, and stays as it is until it gets on (spec 3.5).
void JobSteps::Step::take_probed() {
  const auto id = customer.probed_delivery;
  // What the store told against it since, as a high risk, is asked of the merchant where it is resumed.
  if (probes(id) && set.delivery(id)->resolution == ResolutionCode::cloud_unavailable &&
      unapproved(set.tx(), id).none()) {
    deliveries.push_back(id);
  } else {
    customer.probed_delivery = {};
  }
}

// Whether the job came to an end with the probed delivery that is not the platform's trouble: then that is
// told of it, in the place of the failure that is not true any more.
bool JobSteps::Step::probe_has_ended(Finding finding) {
  const auto id = customer.probed_delivery;
  if (job.shutting_down || std::ranges::find(deliveries, id) == deliveries.end() || !probes(id)) return false;
  if (job.failed_all) return *job.failed_all != ResolutionCode::cloud_unavailable && !job.failed_account;
  if (job.stop_calling || job.put_off.contains(id)) return false;
  if (finding == Finding::still_waiting) return true;
  const auto items = set.items(id);
  return std::ranges::any_of(items, [&](const auto* item) { return job.failed_items.contains(item->id); }) ||
         std::ranges::none_of(items, [](const auto* item) {
           return item->status == ItemStatus::owed || item->status == ItemStatus::sharing;
         });
}

Call JobSteps::Step::next() {
  if (job.failed_all) return finish(Finding::worked);
  if (job.shutting_down) return finish(Finding::shutting_down);
  if (job.stop_calling) return finish(job.account_trouble ? Finding::account_trouble : Finding::transient);
  if (auto call = next_unknown_share()) return *call;
  // Shares that can be done come before revocations (spec 3.4): one that keeps failing holds up no order.
  if (customer.friendship == Friendship::friends && !customer.cloud_user_id.empty()) {
    if (auto call = next_share()) return *call;
  }
  if (auto call = next_revocation()) return *call;
  if (deliveries.empty()) return finish(Finding::worked);
  if (customer.cloud_user_id.empty()) {
    Call call = make_for_first(Call::Kind::find_user);
    call.username = customer.username_key;
    call.then_friendship =
        customer.friendship == Friendship::unknown || customer.friendship == Friendship::requesting;
    return call;
  }
  if (auto call = next_friendship_step()) return *call;
  if (customer.friendship == Friendship::unknown || customer.friendship == Friendship::none ||
      customer.friendship == Friendship::requesting) {
    // The platform's answers lead nowhere: later, and not as one who waits.
    transient(CallKind::request_friendship, deliveries.front());
    if (job.failed_all) return finish(Finding::worked);
    return finish(job.account_trouble ? Finding::account_trouble : Finding::transient);
  }
  if (customer.friendship != Friendship::friends) {
    if (customer.friendship == Friendship::declined) job.failed_all = ResolutionCode::friend_request_declined;
    if (customer.friendship == Friendship::blocked) job.failed_all = ResolutionCode::blocked_by_customer;
    return finish(Finding::still_waiting);
  }
  if (auto call = next_share()) return *call;
  return finish(Finding::worked);
}

// Of the user whose the item is: the name may be somebody else's by now.
Call JobSteps::Step::make_for_item(Call::Kind kind, const storage::ItemRow& item) {
  Call call = make(kind, item.account, item.delivery);
  call.user_id = user_of(item, customer);
  call.item = item.id;
  call.file_id = item.file_id;
  return call;
}

// Unknown outcomes: work of the customer, whatever their deliveries' status, as are those below.
std::optional<Call> JobSteps::Step::next_unknown_share() {
  for (const auto* const item : set.items_of(customer.id)) {
    const bool due = item->status == ItemStatus::sharing && *item->settle_after <= set.now() &&
                     !job.put_off.contains(item->delivery);
    if (due && !user_of(*item, customer).empty()) return make_for_item(Call::Kind::find_share, *item);
  }
  return std::nullopt;
}

// Revocations, and requests to take back.
std::optional<Call> JobSteps::Step::next_revocation() {
  for (auto* const item : set.items_of(customer.id)) {
    if (item->status != ItemStatus::revoking || job.revocations_put_off.contains(item->delivery)) continue;
    if (user_of(*item, customer).empty()) {
      end_revocation(set, item->delivery, item->id, ItemStatus::revoke_failed);
      continue;
    }
    if (!item->revocation_begun) {
      item->revocation_begun = true;
      set.changed(*item);
    }
    return make_for_item(Call::Kind::revoke, *item);
  }
  if (!customer.withdraw) return std::nullopt;
  if (!set.open(customer.id).empty() || customer.cloud_user_id.empty() || !request_pending(customer)) {
    customer.withdraw = false;
    return std::nullopt;
  }
  const auto owners = accounts_of_cloud_account(set.tx(), customer.cloud_account);
  if (owners.empty()) {
    customer.withdraw = false;
    return std::nullopt;
  }
  // Until the answer nobody knows whether the request stands: an order that comes meanwhile looks again.
  customer.friendship = Friendship::requesting;
  return make(Call::Kind::withdraw, owners.front(), {});
}

std::optional<Call> JobSteps::Step::request() {
  if (job.request_sent) return std::nullopt;
  customer.friendship = Friendship::requesting;
  customer.requested_at.reset();
  customer.ask_anew = false;
  Call call = make_for_first(Call::Kind::request_friendship);
  call.idempotency_key = to_string(customer.id) + "-" + std::to_string(customer.fence);
  return call;
}

std::optional<Call> JobSteps::Step::next_friendship_step() {
  switch (customer.friendship) {
    case Friendship::declined:
      if (customer.ask_anew && job.friendship_checks > 0) return request();
      [[fallthrough]];
    case Friendship::blocked:
      // They may have changed their mind since; asking costs less than a failure that is not true any more.
      if (job.friendship_checks > 0) return std::nullopt;
      return make_for_first(Call::Kind::friendship);
    case Friendship::unknown:
    case Friendship::requesting:
      if (job.friendship_checks >= kMaxFriendshipChecks) return std::nullopt;
      return make_for_first(Call::Kind::friendship);
    case Friendship::none:
      return request();
    case Friendship::requested: {
      if (!customer.ask_anew) return std::nullopt;
      // Until the answer nobody knows whether the request stands.
      customer.friendship = Friendship::requesting;
      return make_for_first(Call::Kind::withdraw);
    }
    case Friendship::friends:
      customer.ask_anew = false;
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Call> JobSteps::Step::next_share() {
  // Whether a share of the same file with the same user is so.
  const auto with = [&](const storage::ItemRow& item, auto... wanted) {
    return std::ranges::any_of(set.items_of(customer.id, item.file_id), [&](const storage::ItemRow* i) {
      return user_of(*i, customer) == item.user_id && ((i->status == wanted) || ...);
    });
  };
  for (auto it = deliveries.begin(); it != deliveries.end();) {
    bool unpaid = false;
    for (auto* const owed : leave_former_owner(set, customer, *it)) {
      if (owed->former || owed->status != ItemStatus::owed || job.failed_items.contains(owed->id)) continue;
      auto& item = own_item(set, customer, *owed);
      if (item.status != ItemStatus::owed) continue;
      if (with(item, ItemStatus::shared, ItemStatus::already_shared)) {
        item.status = ItemStatus::already_shared;
        item.customer = customer.id;
        item.shared_at = set.now();
        set.changed(item);
        continue;
      }
      // Another order's share of this file is being settled or taken back: after that.
      if (with(item, ItemStatus::sharing, ItemStatus::revoking)) continue;
      const std::string key = to_string(item.id) + "-" + std::to_string(customer.fence);
      if (!begin_share(set, item, customer.id, key, job.expires_at + steps.call_timeout_)) {
        // The others may cost nothing.
        unpaid = true;
        continue;
      }
      Call call = make(Call::Kind::share, item.account, *it);
      call.item = item.id;
      call.file_id = item.file_id;
      call.idempotency_key = key;
      return call;
    }
    if (unpaid) conclude(set, job, customer, *it, Finding::permanent, ResolutionCode::insufficient_credits);
    it = unpaid ? deliveries.erase(it) : std::next(it);
  }
  return std::nullopt;
}

Call JobSteps::Step::finish(Finding finding) {
  if (probe_has_ended(finding)) {
    progress(customer.probed_delivery);
    take_deliveries(set, customer);
  }
  end_job(set, job, customer, finding);
  if (job.failed_all == ResolutionCode::cloud_unavailable)
    ensure_probe(set.tx(), job.cloud_account, set.now() + domain::kFailedProbeInterval);
  const auto open = set.open(customer.id);
  const bool waits_now = std::ranges::any_of(open, [&](DeliveryId id) {
    const auto& row = *set.delivery(id);
    return row.status == DeliveryStatus::waiting_for_friendship && row.waiting_since == set.now();
  });
  if (waits_now) note_friend_request(set.tx(), job.cloud_account, set.now() + steps.options_.first_sweep);
  return {.kind = Call::Kind::done};
}

}  // namespace presetbridge::services
