#include "services/worker/job_end.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "domain/job_class.h"
#include "services/delivery/customer_change.h"
#include "services/delivery/fulfilment.h"
#include "services/delivery/items.h"
#include "services/delivery/remap.h"
#include "services/delivery/routing.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::Finding;
using domain::ItemStatus;
using domain::JobClass;
using domain::PendingActionKind;
using domain::ResolutionCode;
using domain::ReviewReason;
using storage::CustomerRow;
using storage::Friendship;
using storage::QueueState;
using storage::Tx;

constexpr Millis kElsewhere{15 * 60'000};  // until work that waits for another customer's job is due

// The first of the times of the retry for the account and of all that the job postponed, if there is any.
// Without an account: of the job's own retry.
std::optional<Timestamp> first_retry(const Job& job, AccountId account = {}) {
  auto first = job.retry_at(account);
  for (const auto* const postponed : {&job.postponed, &job.postponed_revocations}) {
    for (const auto& [delivery, at] : *postponed) first = std::min(first.value_or(at), at);
  }
  return first;
}

// The change that a verdict asks for. Why nothing is to be delivered is read from the order.
Change change_of(DeliverySet& set, const storage::DeliveryRow& row, const domain::Verdict& verdict,
                 const domain::PendingAction& pending) {
  auto actor = pending.kind == PendingActionKind::none ? domain::Actor::system() : pending.actor;
  if (verdict.cause == Cause::stopped_by_order) actor = domain::Actor::order();
  if (verdict.cause != Cause::nothing_to_deliver) {
    return {.cause = *verdict.cause,
            .code = verdict.code,
            .reason = pending.reason,
            .reasons = domain::review_reason_of(*verdict.cause) ? pending.reviews : domain::ReviewReasons{},
            .actor = actor,
            .keep_pending = verdict.keep_pending};
  }
  const auto* const order = set.order(row.id);
  return nothing_left(set.items_with_lines(row.id), order == nullptr ? domain::OrderState{} : order->state,
                      actor);
}

// The name that the delivery is for from now on, where a correction is pending: the merchant's always, one of
// the store or the buyer while nothing is shared (spec 2.6, 3.11, 13.3).
std::optional<domain::PendingName> corrected_name(DeliverySet& set, const storage::DeliveryRow& row) {
  const auto& name = row.pending.name;
  // It counts also where the pending action ends the delivery: the order may be paid again, or the delivery
  // be reopened.
  if (row.pending.kind == PendingActionKind::erase || name.username.empty()) return std::nullopt;
  const bool always = name.actor != domain::Actor::order() && name.actor != domain::Actor::buyer();
  if (!always && anything_shared(set.items(row.id))) return std::nullopt;
  return name;
}

bool is_of_login(ResolutionCode code) {
  return code == ResolutionCode::credentials_missing || code == ResolutionCode::credentials_invalid;
}

// Whether the delivery waits for a share whose outcome another customer's job finds out: that of the customer
// at the former cloud account (spec 3.11), which queues this delivery again then.
bool shared_elsewhere(DeliverySet& set, CustomerId customer, DeliveryId delivery) {
  return std::ranges::any_of(set.items(delivery), [&](const storage::ItemRow* item) {
    return !item->former && item->status == ItemStatus::sharing && item->customer != customer;
  });
}

using UserAndFile = std::pair<std::string, std::string_view>;

// The time from which a file of the delivery can be shared, where for each file that it owes a share with the
// same user, or its revocation, is `unsettled`: the first time that one of these may be settled. Nothing: a
// file can be shared now, or none is owed.
std::optional<Timestamp> shareable_from(DeliverySet& set, DeliveryId delivery, const CustomerRow& customer,
                                        const std::map<UserAndFile, Timestamp>& unsettled) {
  std::optional<Timestamp> first;
  for (const auto* const item : set.items(delivery)) {
    const bool begun = item->status == ItemStatus::sharing;
    if (item->former || (!begun && item->status != ItemStatus::owed)) continue;
    const auto& user = begun ? user_of(*item, customer) : customer.cloud_user_id;
    const auto until = unsettled.find({user, item->file_id});
    if (until == unsettled.end()) return std::nullopt;
    first = std::min(first.value_or(until->second), until->second);
  }
  return first;
}

// The finding for one of the job's deliveries, with the code of a permanent failure.
std::pair<Finding, ResolutionCode> finding_for(DeliverySet& set, const Job& job,
                                               const storage::DeliveryRow& row, Finding finding,
                                               std::optional<Timestamp> requested_at) {
  if (const auto* const failed = job.failure()) return {Finding::permanent, failed->code};
  if (job.postponed.contains(row.id)) return {Finding::transient, ResolutionCode::none};
  // Each delivery reports each friend request once, whichever job made it (spec 10.1). Rows of former
  // versions do not say which request they reported.
  const bool reported = row.reported_request ? row.reported_request == requested_at : row.requests_sent > 0;
  if (finding == Finding::still_waiting && (job.request_sent || !reported))
    return {Finding::request_sent, ResolutionCode::none};
  if (finding == Finding::worked && !job.failed_items.empty()) {
    for (const auto* const item : set.items(row.id)) {
      const auto failed = job.failed_items.find(item->id);
      if (failed != job.failed_items.end() && item->status == ItemStatus::owed)
        return {Finding::permanent, failed->second};
    }
  }
  return {finding, ResolutionCode::none};
}

}  // namespace

bool take_delivery(DeliverySet& set, storage::DeliveryRow& row, const CustomerRow& customer) {
  if (row.status == DeliveryStatus::queued) {
    ++row.attempt_count;
    set.apply(row, {.cause = Cause::leased, .keep_pending = true});
  } else if (row.status == DeliveryStatus::waiting_for_friendship &&
             customer.friendship != Friendship::requested) {
    ++row.attempt_count;
    if (customer.friendship == Friendship::friends)
      set.add_timeline_entry(row, domain::Actor::system(), "The customer accepted the friend request.",
                             {.type = domain::TimelineType::accepted});
    set.apply(row, {.cause = Cause::leased_after_acceptance, .keep_pending = true});
  }
  return row.status == DeliveryStatus::processing;
}

std::vector<DeliveryId> take_deliveries(DeliverySet& set, const Job& job, const CustomerRow& customer) {
  auto open = set.open(customer.id);
  // Deliveries that failed for a while come after the others, and may be left to a later job.
  std::ranges::sort(open, {}, [&](DeliveryId id) {
    const auto& row = *set.delivery(id);
    return std::tuple(row.status != DeliveryStatus::processing, row.next_attempt_at.value_or(Timestamp{}),
                      id);
  });
  std::vector<DeliveryId> taken;
  for (const auto id : open) {
    if (taken.size() >= kMostDeliveriesOfJob) break;
    if (job.without_login.contains(set.delivery(id)->account)) continue;
    if (take_delivery(set, *set.delivery(id), customer)) taken.push_back(id);
  }
  std::ranges::sort(taken);
  return taken;
}

bool conclude(DeliverySet& set, const Job& job, CustomerRow& customer, DeliveryId delivery, Finding finding,
              ResolutionCode code) {
  const auto name = corrected_name(set, *set.delivery(delivery));
  const bool another = name && name->username != set.delivery(delivery)->username;
  if (another) {
    set.add_timeline_entry(*set.delivery(delivery), name->actor, "The customer's username was changed.");
    // Before the delivery is concluded: files that the former customer got are not the new one's.
    auto& renamed = *set.delivery(delivery);
    change_owner_of_items(set, renamed, name->actor);
    replace_delivery_key(set.tx(), renamed.account, renamed.id, storage::KeyOf::username, renamed.username,
                         name->username);
    renamed.username = renamed.raw_username = name->username;
    return_items(set, renamed);
    renamed.waiting_since.reset();
    renamed.asks_anew = false;
    customer.withdraw = customer.withdraw || request_pending(customer);
  }
  auto& row = *set.delivery(delivery);
  if (name) {
    row.named_at = name->given.value_or(set.now());
    row.pending.name = {};
    set.changed(row);
  }
  // A probed delivery, which has failed, stays as it is.
  if (row.status != DeliveryStatus::processing) return true;
  const auto items = set.items(delivery);
  const auto pending = row.pending;
  const auto tallied = tally(items, row.username, another ? CustomerId{} : row.customer);
  const auto verdict = domain::conclude_job(tallied, finding, code, pending);
  if (verdict.drop_owed) drop_owed(set, items);
  if (!verdict.cause) return false;
  if (verdict.cause == Cause::permanent_failure && verdict.code == ResolutionCode::preset_not_found) {
    // Mappings may have been saved since its files were chosen, and their account task have passed it: then
    // it is queued with other files, and no failure is reported. The account task of mappings that are saved
    // from now on finds it failed.
    if (replace_missing(set, row)) {
      set.apply(row, {.cause = Cause::refreshed});
      // Another line may have delivered the file that takes the missing one's place. Nothing is owed then, and a
      // missing credit or login does not matter.
      conclude_settled(set, delivery, {});
      if (row.status == DeliveryStatus::queued) queue_or_fail(set, row);
    } else {
      set.apply(row, change_of(set, row, verdict, pending));
    }
    return true;
  }

  if (verdict.cause == Cause::request_sent) ++row.requests_sent;
  const bool reports_request =
      verdict.cause == Cause::request_sent ||
      (verdict.cause == Cause::permanent_failure && verdict.code == ResolutionCode::friend_request_declined);
  if (reports_request) row.reported_request = customer.requested_at;
  if (verdict.cause == Cause::transient_failure || verdict.cause == Cause::account_trouble) {
    const auto own = job.postponed.find(delivery);
    row.next_attempt_at =
        own == job.postponed.end() ? first_retry(job, row.account).value_or(set.now()) : own->second;
  }
  auto change = change_of(set, row, verdict, pending);
  if (const auto* const its = job.outcome_of(row.account);
      its && its->kind == JobOutcome::Kind::failed && verdict.code == its->code)
    change.message = its->message;
  set.apply(row, change);
  // The account task of a login that was lost meanwhile has passed it.
  if (row.status == DeliveryStatus::waiting_for_friendship) {
    if (auto failure = known_failure(set, row, items); failure && is_of_login(failure->code))
      set.apply(row, *failure);
  }
  // The next change that queues it finds the customer of the new name.
  if (another && row.status != DeliveryStatus::waiting_for_friendship) row.customer = {};
  if (row.status != DeliveryStatus::queued) return true;
  if (another || verdict.cause == Cause::cloud_account_changed || verdict.cause == Cause::retried)
    queue_or_fail(set, row);
  return true;
}

void conclude_settled(DeliverySet& set, DeliveryId delivery, ItemId settled) {
  auto* const row = set.delivery(delivery);
  if (row == nullptr || row->status == DeliveryStatus::processing) return;
  const auto items = set.items(delivery);
  const auto tallied = tally(items, *row);
  const bool stopping =
      row->pending.kind == PendingActionKind::stop || row->pending.kind == PendingActionKind::erase;
  if (row->status == DeliveryStatus::in_review && !stopping && settled) {
    // A former customer's item does not change what the delivery owes since the merchant reopened it.
    const auto* const item = set.item(delivery, settled);
    if (item != nullptr && item->former) return;
  }
  const auto verdict =
      stopping ? domain::conclude_stop(row->status, tallied) : domain::conclude_items(row->status, tallied);
  if (verdict.drop_owed) drop_owed(set, items);
  if (!verdict.cause) return;
  auto change = change_of(set, *row, verdict, stopping ? row->pending : domain::PendingAction{});
  if (verdict.cause == Cause::new_items_owed) {
    change.reasons = unapproved(set, delivery);
    // The payment was withdrawn: nothing is owed until it is back.
    if (change.reasons.has(ReviewReason::payment_withdrawn)) return;
    if (set.order_settings(*row).hold_all) change.reasons.add(ReviewReason::held);
  }
  row->pending = {};
  set.apply(*row, change);
  if (row->status == DeliveryStatus::queued) queue_or_fail(set, *row);
}

void hold_owed_again(DeliverySet& set, DeliveryId delivery) {
  auto* const row = set.delivery(delivery);
  if (row == nullptr || !is_open(*row) || !set.order_settings(*row).hold_all) return;
  if (row->status == DeliveryStatus::processing) {
    row->pending = domain::combine(row->pending, domain::pending_review(ReviewReason::held));
    set.changed(*row);
  } else {
    set.apply(*row, {.cause = Cause::held, .actor = domain::Actor::order()});
  }
}

void end_job(DeliverySet& set, const Job& job, CustomerRow& customer, Finding finding) {
  for (const auto id : set.open(customer.id)) {
    const auto& row = *set.delivery(id);
    if (row.status != DeliveryStatus::processing) continue;
    const auto [its, code] = finding_for(set, job, row, finding, customer.requested_at);
    conclude(set, job, customer, id, its, code);
  }
  std::vector<DeliveryId> queued;
  bool waiting = false;
  bool settled_elsewhere = false;
  for (const auto id : set.open(customer.id)) {
    const auto status = set.delivery(id)->status;
    if (status == DeliveryStatus::queued) queued.push_back(id);
    settled_elsewhere =
        settled_elsewhere || (finding == Finding::worked && status == DeliveryStatus::queued &&
                              shared_elsewhere(set, customer.id, id));
    waiting = waiting || status == DeliveryStatus::waiting_for_friendship;
  }

  // conclude() may have queued this customer again: these values replace that.
  customer.queue_state = QueueState::idle;
  customer.probed_delivery = {};
  customer.lease_owner.clear();
  customer.lease_expires_at.reset();
  const Timestamp again = first_retry(job).value_or(set.now() + (settled_elsewhere ? kElsewhere : Millis{0}));
  const auto settle_from = [&](AccountId account) {
    const Timestamp soon = set.now() + (settled_elsewhere ? kElsewhere : Millis{0});
    return job.settle_at(account).value_or(job.retry_at(account).value_or(soon));
  };
  const auto from = [&](const std::map<DeliveryId, Timestamp>& postponed, const storage::ItemRow& item) {
    const auto own = postponed.find(item.delivery);
    return own == postponed.end() ? settle_from(item.account)
                                  : std::max(own->second, job.settle_at(item.account).value_or(own->second));
  };
  const auto queue = [&](JobClass job_class, Timestamp due) {
    const bool first = customer.queue_state == QueueState::idle;
    customer.due_at = first ? due : std::min(customer.due_at, due);
    customer.job_class = first ? job_class : std::min(customer.job_class, job_class);
    customer.queue_state = QueueState::queued;
  };
  std::map<UserAndFile, Timestamp> unsettled;  // each until it may be settled
  for (const auto* const item : set.items_of(customer.id)) {
    std::optional<Timestamp> due;
    if (item->status == ItemStatus::revoking) due = from(job.postponed_revocations, *item);
    if (item->status == ItemStatus::sharing) due = std::max(*item->settle_after, from(job.postponed, *item));
    if (!due) continue;
    queue(JobClass::settlement, *due);
    auto& until = unsettled.try_emplace({user_of(*item, customer), item->file_id}, *due).first->second;
    until = std::max(until, *due);
  }
  if (customer.withdraw) {
    auto due = settle_from({});
    for (const auto& [account, lost] : job.without_login) due = std::max(due, lost.settle_at.value_or(due));
    queue(JobClass::settlement, due);
  }
  if (job.more_deliveries) queue(JobClass::first_request, set.now());
  for (const auto id : queued) {
    const auto own = job.postponed.find(id);
    auto at = own == job.postponed.end() ? job.retry_at(set.delivery(id)->account).value_or(set.now())
                                         : own->second;
    if (settled_elsewhere) at = again;
    queue(JobClass::retry, std::max(at, shareable_from(set, id, customer, unsettled).value_or(at)));
  }
  if (waiting && customer.friendship == Friendship::requested) {
    ensure_sweep(set.tx(), customer.cloud_account, set.now());
  } else if (waiting) {
    // No acceptance is to come: it has come meanwhile, or the request is to be made again.
    queue(customer.friendship == Friendship::friends ? JobClass::share : JobClass::first_request, again);
  }
  // Without a further job no call fails any more.
  if (customer.queue_state == QueueState::idle) customer.failing.clear();
  set.put(customer);
  if (customer.queue_state == QueueState::queued)
    wake_cloud_account(set.tx(), customer.cloud_account, customer.due_at);
}

}  // namespace presetbridge::services
