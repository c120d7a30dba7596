#include "services/worker/step.h"

#include <algorithm>
#include <utility>

#include "domain/trouble.h"
#include "services/delivery/routing.h"
#include "services/worker/former_login.h"
#include "services/worker/item_steps.h"
#include "services/worker/job_end.h"
#include "services/worker/share_ledger.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using domain::CallKind;
using domain::DeliveryStatus;
using domain::Finding;
using domain::ItemStatus;
using domain::ResolutionCode;
using storage::Friendship;

}  // namespace

bool JobSteps::Step::has_due_look_up(DeliveryId id) {
  return std::ranges::any_of(set.items(id), [&](const auto* item) {
    return item->customer == customer.id && item->status == ItemStatus::sharing &&
           *item->settle_after <= set.now();
  });
}

void JobSteps::Step::obey_pending() {
  std::erase_if(deliveries, [&](DeliveryId id) {
    if (set.delivery(id)->pending.kind == domain::PendingActionKind::none) return false;
    // A share that was begun is settled first, where it can be (spec 3.3).
    if (!job.outcome && !job.looks_up_no_more && has_due_look_up(id)) return false;
    return conclude(set, job, customer, id, Finding::worked, ResolutionCode::none);
  });
}

// Ends the deliveries that owe nothing any more: nobody is looked up, or asked for friendship, for them.
void JobSteps::Step::end_settled() {
  std::erase_if(deliveries, [&](DeliveryId id) {
    const auto& row = *set.delivery(id);
    const bool failed = row.status == DeliveryStatus::failed;  // the probed one
    if (!failed && row.status != DeliveryStatus::processing) return false;
    const auto items = tally(set.items(id), row);
    if (items.owed > 0 || items.sharing > 0) return false;
    if (failed) {
      // No call was made for it, so nothing is known of the platform: what failed with it stays failed.
      customer.probed_delivery = {};
      conclude_settled(set, id, {});
      return true;
    }
    return conclude(set, job, customer, id, Finding::worked, ResolutionCode::none);
  });
}

// The job works on the probed delivery like on its others, and its row stays as it is (spec 3.5).
void JobSteps::Step::take_probed() {
  const auto id = customer.probed_delivery;
  // Where the store has reported a reason for a review since, as a high risk, it is not probed: the merchant
  // is asked once it is resumed.
  if (probes(id) && set.delivery(id)->resolution == ResolutionCode::cloud_unavailable &&
      unapproved(set, id).none()) {
    deliveries.push_back(id);
  } else {
    customer.probed_delivery = {};
  }
}

// Whether the job has a result for the probed delivery other than the platform's trouble: the delivery then
// gets that result, in place of a failure that is not true any more.
bool JobSteps::Step::probe_has_ended(Finding finding) {
  const auto id = customer.probed_delivery;
  if (job.shutting_down || std::ranges::find(deliveries, id) == deliveries.end() || !probes(id)) return false;
  if (const auto* const failed = job.failure()) return failed->code != ResolutionCode::cloud_unavailable;
  if (job.outcome || job.postponed.contains(id)) return false;
  if (finding == Finding::still_waiting) return true;
  const auto items = set.items(id);
  return std::ranges::any_of(items, [&](const auto* item) { return job.failed_items.contains(item->id); }) ||
         std::ranges::none_of(items, [](const auto* item) {
           return item->status == ItemStatus::owed || item->status == ItemStatus::sharing;
         });
}

Finding JobSteps::Step::final_finding() {
  if (job.failure() != nullptr) return Finding::worked;
  if (job.shutting_down) return Finding::shutting_down;
  return job.outcome->kind == JobOutcome::Kind::account_paused ? Finding::account_trouble
                                                               : Finding::transient;
}

std::optional<Call> JobSteps::Step::next_call() {
  const auto end = [this](Finding finding) {
    finish(finding);
    return std::nullopt;
  };
  if (job.outcome || job.shutting_down) return end(final_finding());
  if (!job.looks_up_no_more) {
    if (auto call = next_unknown_share()) return call;
  }
  // Shares that can be done come before revocations (spec 3.4): one that keeps failing holds up no order.
  if (customer.friendship == Friendship::friends && !customer.cloud_user_id.empty()) {
    if (auto call = next_share()) return call;
  }
  if (auto call = next_revocation()) return call;
  if (deliveries.empty()) return end(Finding::worked);
  if (customer.cloud_user_id.empty()) {
    const bool also =
        customer.friendship == Friendship::unknown || customer.friendship == Friendship::requesting;
    return make_for_first(FindUser{.username = customer.username_key, .then_friendship = also});
  }
  if (auto call = next_friendship_step()) return call;
  if (customer.friendship == Friendship::unknown || customer.friendship == Friendship::none ||
      customer.friendship == Friendship::requesting) {
    // The platform contradicts itself: the deliveries are retried later, and do not wait for an acceptance.
    end_transient(CallKind::request_friendship, deliveries.front());
    return end(final_finding());
  }
  if (customer.friendship != Friendship::friends) {
    if (customer.friendship == Friendship::declined)
      job.outcome = JobOutcome::fail(ResolutionCode::friend_request_declined);
    if (customer.friendship == Friendship::blocked)
      job.outcome = JobOutcome::fail(ResolutionCode::blocked_by_customer);
    return end(Finding::still_waiting);
  }
  if (auto call = next_share()) return call;
  return end(Finding::worked);
}

std::optional<AccountId> JobSteps::Step::usable_login() {
  for (const auto account : accounts_of_cloud_account(set.tx(), customer.cloud_account)) {
    if (!job.without_login.contains(account)) return account;
  }
  return std::nullopt;
}

std::function<std::optional<AccountId>(AccountId)> JobSteps::Step::login_for_items() {
  const auto other = job.without_login.empty() ? std::nullopt : usable_login();
  return [this, other](AccountId account) {
    return job.without_login.contains(account) ? other : std::optional(account);
  };
}

// For any item of the customer, whatever its delivery's status; so with the revocations below.
std::optional<Call> JobSteps::Step::next_unknown_share() {
  const auto login_for = login_for_items();
  std::vector<Call> given_up;
  for (auto* const item : set.items_of(customer.id)) {
    const bool due = item->status == ItemStatus::sharing && *item->settle_after <= set.now() &&
                     !job.postponed.contains(item->delivery);
    if (!due || user_of(*item, customer).empty()) continue;
    auto call = make(FindShare{request_for(*item)}, item->account, item->delivery);
    if (const auto login = login_for(item->account)) {
      call.account = *login;
      return call;
    }
    if (waited_for_login(set, job, *item)) given_up.push_back(std::move(call));
  }
  for (const auto& call : given_up) give_up_look_up(call, kNoLogin);
  return std::nullopt;
}

// Revocations, and requests to take back.
std::optional<Call> JobSteps::Step::next_revocation() {
  const auto login_for = login_for_items();
  for (auto* const item : set.items_of(customer.id)) {
    if (item->status != ItemStatus::revoking || job.postponed_revocations.contains(item->delivery)) continue;
    if (user_of(*item, customer).empty()) {
      end_revocation(set, item->delivery, item->id, RevocationEnd::failed);
      continue;
    }
    const auto login = login_for(item->account);
    if (!login) {
      if (waited_for_login(set, job, *item))
        end_revocation(set, item->delivery, item->id, RevocationEnd::failed, kNoLogin);
      continue;
    }
    // A process that died during the call before heard of no answer: what it asked for counts as perhaps done.
    const bool perhaps_gone = std::exchange(item->revocation_begun, true);
    if (!perhaps_gone) set.changed(*item);
    return make(RevokeShare{request_for(*item), perhaps_gone}, *login, item->delivery);
  }
  if (!customer.withdraw) return std::nullopt;
  if (!set.open(customer.id).empty() || customer.cloud_user_id.empty() || !request_pending(customer)) {
    customer.withdraw = false;
    return std::nullopt;
  }
  const auto login = usable_login();
  if (!login) {
    // A valid login that is of another cloud user by the platform's word may be this one's again.
    customer.withdraw = !accounts_of_cloud_account(set.tx(), customer.cloud_account).empty();
    return std::nullopt;
  }
  // Until the answer nobody knows whether the request stands: for an order that comes meanwhile it is looked
  // up again.
  customer.friendship = Friendship::requesting;
  return make(WithdrawRequest{customer.cloud_user_id}, *login, DeliveryId{});
}

// A delivery that has ended wants nothing any more, though nobody has taken its wish back.
bool JobSteps::Step::asks_anew() {
  if (!customer.ask_anew) return false;
  const auto asks = [&](DeliveryId id) { return set.delivery(id)->asks_anew; };
  const auto probed = customer.probed_delivery;
  return std::ranges::any_of(set.open(customer.id), asks) || (probes(probed) && asks(probed));
}

std::optional<Call> JobSteps::Step::next_request() {
  if (job.request_sent) return std::nullopt;
  customer.friendship = Friendship::requesting;
  customer.requested_at.reset();
  customer.ask_anew = false;
  return make_for_first(
      RequestFriendship{.user_id = customer.cloud_user_id,
                        .idempotency_key = to_string(customer.id) + "-" + std::to_string(customer.fence)});
}

std::optional<Call> JobSteps::Step::next_friendship_step() {
  switch (customer.friendship) {
    case Friendship::declined:
      if (asks_anew() && job.friendship_checks > 0) return next_request();
      [[fallthrough]];
    case Friendship::blocked:
      // The customer may have accepted since; a look-up costs less than a failure that is not true any more.
      if (job.friendship_checks > 0) return std::nullopt;
      return make_for_first(FindFriendship{customer.cloud_user_id});
    case Friendship::unknown:
    case Friendship::requesting:
      if (job.friendship_checks >= kMaxFriendshipChecks) return std::nullopt;
      return make_for_first(FindFriendship{customer.cloud_user_id});
    case Friendship::none:
      return next_request();
    case Friendship::requested: {
      if (!asks_anew()) return std::nullopt;
      // Until the answer nobody knows whether the request stands.
      customer.friendship = Friendship::requesting;
      return make_for_first(WithdrawRequest{customer.cloud_user_id});
    }
    case Friendship::friends:
      customer.ask_anew = false;
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Call> JobSteps::Step::next_share() {
  // Whether the user has another item of this file, in one of the wanted states.
  const auto with = [&](const storage::ItemRow& item, auto... wanted) {
    return std::ranges::any_of(set.items_of(customer.id, item.file_id), [&](const storage::ItemRow* i) {
      return user_of(*i, customer) == item.user_id && ((i->status == wanted) || ...);
    });
  };
  for (auto it = deliveries.begin(); it != deliveries.end();) {
    bool unpaid = false;
    for (auto* const owed : assign_items_to_user(set, customer, *it)) {
      if (owed->former || owed->status != ItemStatus::owed || job.failed_items.contains(owed->id)) continue;
      if (is_being_revoked(set, customer, *owed)) continue;
      auto& item = own_item(set, customer, *owed);
      if (item.status != ItemStatus::owed) continue;
      if (with(item, ItemStatus::shared, ItemStatus::already_shared)) {
        item.status = ItemStatus::already_shared;
        item.customer = customer.id;
        item.shared_at = set.now();
        set.changed(item);
        continue;
      }
      // Another order's share of this file is being settled or taken back: this one waits for the end of
      // that.
      if (with(item, ItemStatus::sharing, ItemStatus::revoking)) continue;
      const std::string key = to_string(item.id) + "-" + std::to_string(customer.fence);
      if (!begin_share(set, item, customer.id, key, job.expires_at + steps.call_timeout_)) {
        // Other items of the delivery may cost nothing.
        unpaid = true;
        continue;
      }
      return make(ShareFile{{.item = item.id,
                             .account = item.account,
                             .user_id = customer.cloud_user_id,
                             .file_id = item.file_id},
                            key},
                  item.account, *it);
    }
    if (unpaid) fail_unpaid(*it);
    it = unpaid ? deliveries.erase(it) : std::next(it);
  }
  return std::nullopt;
}

void JobSteps::Step::finish(Finding finding) {
  if (probe_has_ended(finding)) {
    progress(customer.probed_delivery);
    // Another name's customer may have it now.
    if (auto& row = *set.delivery(customer.probed_delivery); row.customer == customer.id)
      take_delivery(set, row, customer);
  }
  end_job(set, job, customer, finding);
  if (const auto* const failed = job.failure(); failed && failed->code == ResolutionCode::cloud_unavailable)
    ensure_probe(set.tx(), job.cloud_account, set.now() + domain::kFailedProbeInterval);
  const auto open = set.open(customer.id);
  const bool waits_now = std::ranges::any_of(open, [&](DeliveryId id) {
    const auto& row = *set.delivery(id);
    return row.status == DeliveryStatus::waiting_for_friendship &&
           (job.request_sent || row.waiting_since >= set.now());
  });
  if (waits_now) note_friend_request(set.tx(), job.cloud_account, set.now() + steps.options_.first_sweep);
}

}  // namespace presetbridge::services
