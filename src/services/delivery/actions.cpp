#include "services/delivery/actions.h"

#include <algorithm>
#include <array>
#include <set>

#include "domain/delivery_outcome.h"
#include "domain/job_class.h"
#include "domain/order.h"
#include "identity/audit.h"
#include "services/delivery/customer_change.h"
#include "services/delivery/erased.h"
#include "services/delivery/fulfilment.h"
#include "services/delivery/remap.h"
#include "services/delivery/revocation.h"
#include "services/delivery/routing.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::ItemStatus;
using domain::PendingActionKind;
using domain::ResolutionCode;
using storage::Friendship;
using storage::Tx;

constexpr const char* kNothingPaid =
    "Nothing that the order pays for is left to deliver. Invalidate the delivery instead.";
constexpr const char* kTooManyFiles =
    "The mappings make more files of the order than are served: map fewer, or deliver it by hand.";

// Approves the obstacles of the order with it, so that a resumption does not go to review for them again.
void approve_order(DeliverySet& set, DeliveryId id) {
  auto* const order = set.order(id);
  if (order == nullptr) return;
  order->state.approve();
  set.changed(*order);
}

Error no_such_delivery() {
  return {"NOT_FOUND", "There is no such delivery.", {}};
}

// Locks the order before its delivery, as intake does: an action may change it too.
storage::DeliveryRow* lock_for_action(DeliverySet& set, DeliveryId id) {
  set.lock_order(id);
  hold_customers_of(set.tx(), std::array{id});
  return set.delivery(id);
}

bool visible(const identity::Principal& by, const storage::DeliveryRow& row) {
  return row.account == by.account && by.sees(row.integration);
}

// Limits the filter to the account, and to the stores that a scoped key may see.
void limit_to(const identity::Principal& by, storage::DeliveryFilter& filter) {
  filter.account = by.account;
  if (by.integrations.all()) return;
  if (!filter.integrations) {
    filter.integrations = by.integrations.ids();
  } else {
    std::erase_if(*filter.integrations, [&](IntegrationId id) { return !by.sees(id); });
  }
}

// Whether the customer got a later friend request than the one that this delivery failed for, and is not
// known to have refused it: where a buyer has many orders, the first retry makes the request for all of them.
bool requested_since(const storage::CustomerRow& customer, const storage::DeliveryRow& row) {
  if (customer.withdraw) return false;
  switch (customer.friendship) {
    case Friendship::requesting:
      return true;  // a delivery fails for a request only once the request has ended
    case Friendship::requested:
    case Friendship::unknown:
      // A row of an earlier program does not say which request it failed for.
      return customer.requested_at && *customer.requested_at > row.reported_request.value_or(row.updated_at);
    case Friendship::none:
    case Friendship::friends:
    case Friendship::declined:
    case Friendship::blocked:
      return false;
  }
  return false;
}

// Empty where there is no such order.
const domain::OrderState& order_state(DeliverySet& set, DeliveryId delivery) {
  static const domain::OrderState kNone;
  const auto* const order = set.order(delivery);
  return order == nullptr ? kNone : order->state;
}

// The present customer's items that are dropped though the order's lines are paid for: a stop did that.
std::set<ItemId> paid_and_dropped(DeliverySet& set, DeliveryId delivery) {
  std::set<ItemId> ids;
  if (std::ranges::none_of(set.items(delivery), [](const storage::ItemRow* item) {
        return item->status == ItemStatus::dropped && !item->former;
      }))
    return ids;
  const auto& state = order_state(set, delivery);
  const domain::PaidItems paid(state);
  for (const auto* const item : set.items_with_lines(delivery)) {
    if (item->status == ItemStatus::dropped && !item->former && paid.contains(item_now(*item)))
      ids.insert(item->id);
  }
  return ids;
}

// Whether a retry of the delivery, which failed, takes back the friend request that stands (spec 3.5).
bool takes_request_back(DeliverySet& set, const storage::DeliveryRow& row) {
  const bool unanswered = row.resolution == ResolutionCode::friend_request_declined ||
                          row.resolution == ResolutionCode::friendship_timeout;
  if (!unanswered || !row.customer) return false;
  const auto customer = set.customer(row.customer);
  return customer && !requested_since(*customer, row);
}

// A retry after a refusal, or no answer, makes a new friend request; with `anew` the one that stands is withdrawn
// first. Where the delivery is not queued yet, a request that stands is left for it until then: other deliveries
// of the customer may wait for it.
void request_again(DeliverySet& set, storage::DeliveryRow& row, bool anew) {
  const bool over = row.status == DeliveryStatus::completed || row.status == DeliveryStatus::invalidated;
  if (over || !row.customer) return;
  auto customer = set.customer(row.customer);
  if (!customer) return;
  const bool refused =
      customer->friendship == Friendship::declined || customer->friendship == Friendship::blocked;
  if (row.status == DeliveryStatus::failed && !refused) return;
  customer->ask_anew = customer->ask_anew || anew;
  row.asks_anew = row.asks_anew || anew;
  set.changed(row);
  if (row.status != DeliveryStatus::queued && !refused) return set.put(*customer);
  // A request that is on its way is the one for this delivery too.
  if (customer->friendship != Friendship::friends && customer->friendship != Friendship::requesting)
    customer->friendship = Friendship::unknown;
  set.put(*customer);
}

}  // namespace

Task<Expected<DeliveryView>> DeliveryActions::get(Executor& executor, identity::Principal by, DeliveryId id) {
  co_return co_await async_db_.read(executor, [this, by, id](Tx& tx) -> Expected<DeliveryView> {
    auto row = find_delivery(tx, id);
    if (!row || !visible(by, *row)) return std::unexpected(no_such_delivery());
    return view_of(tx, std::move(*row), jobs_per_minute_);
  });
}

Task<Expected<storage::Page<ShownEntry>>> DeliveryActions::timeline(Executor& executor,
                                                                    identity::Principal by, DeliveryId id,
                                                                    storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [by, id, page](Tx& tx) -> Expected<storage::Page<ShownEntry>> {
    const auto row = find_delivery(tx, id);
    if (!row || !visible(by, *row)) return std::unexpected(no_such_delivery());
    return timeline_of(tx, *row, page);
  });
}

Task<Expected<storage::Page<DeliverySummary>>> DeliveryActions::list(Executor& executor,
                                                                     identity::Principal by,
                                                                     storage::DeliveryFilter filter) {
  limit_to(by, filter);
  co_return co_await async_db_.read(executor, [this, filter](Tx& tx) {
    auto found = list_deliveries(tx, filter);
    return storage::Page<DeliverySummary>{.rows = summaries_of(tx, std::move(found.rows), jobs_per_minute_),
                                          .next = found.next};
  });
}

Task<Expected<storage::DeliveryCount>> DeliveryActions::count(Executor& executor, identity::Principal by,
                                                              storage::DeliveryFilter filter) {
  limit_to(by, filter);
  co_return co_await async_db_.read(executor, [filter](Tx& tx) { return count_deliveries(tx, filter); });
}

Task<Expected<DeliveryView>> DeliveryActions::renew_link(Executor& executor, identity::Principal by,
                                                         DeliveryId id) {
  co_return co_await act(
      executor, by, id, "delivery.link_renewed",
      [](DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) -> Expected<void> {
        ++row.link_version;
        set.changed(row);
        set.add_timeline_entry(row, actor, "The buyer's link was made anew.");
        return {};
      });
}

Task<Expected<DeliveryView>> DeliveryActions::act(Executor& executor, identity::Principal by, DeliveryId id,
                                                  const char* name, Act act) {
  auto result =
      co_await async_db_.write(executor, [this, by, id, name, act](Tx& tx) -> Expected<DeliveryView> {
        DeliverySet set(tx, changes_);
        auto* const row = lock_for_action(set, id);
        if (row == nullptr || !visible(by, *row)) return std::unexpected(no_such_delivery());
        const auto username = row->username;
        if (auto done = act(set, *row, by.actor()); !done) throw Error(done.error());
        set.save();
        auto view = view_of(tx, *row, jobs_per_minute_);
        identity::audit(
            tx, changes_.ids(), by,
            {.action = row->username == username ? name : "delivery.username_changed",
             .target = to_string(id),
             .detail = "order " + (view.order_number.empty() ? row->order_key : view.order_number)});
        return view;
      });
  if (result) changed_();
  co_return result;
}

Expected<void> DeliveryActions::act_or_wait(DeliverySet& set, storage::DeliveryRow& row, const Change& change,
                                            domain::PendingAction pending) {
  if (row.status != DeliveryStatus::processing) return set.try_apply(row, change);
  pending.actor = change.actor;
  row.pending = domain::combine(row.pending, pending);
  set.changed(row);
  set.add_timeline_entry(
      row, change.actor,
      "Asked for while the delivery was being worked on: " + std::string(to_string(pending.kind)) + ".");
  return {};
}

Expected<void> DeliveryActions::retry_row(DeliverySet& set, storage::DeliveryRow& row,
                                          const std::string& username, domain::Actor actor,
                                          FriendRequest request) {
  const bool keeps = request == FriendRequest::keep;
  const bool renamed = !username.empty() && username != row.username;
  if (keeps && (row.status != DeliveryStatus::failed || row.resolution != ResolutionCode::friendship_timeout))
    return fail("INVALID_TRANSITION", "The delivery did not fail for want of an answer to a friend request.");
  if (keeps && renamed)
    return fail("INVALID_TRANSITION", "The friend request is one to the present username.");
  const std::string before = row.username;
  // A buyer gets what the merchant owed before (spec 2.6, 13.3).
  const bool remaps = actor.kind != domain::Actor::Kind::buyer;
  // First, so that a refused retry reads and changes nothing more.
  if (auto allowed = check_not_erased(set.tx(), row.id); !allowed) return allowed;
  switch (row.status) {
    case DeliveryStatus::processing:
      if (remaps && remap(set, row).too_many) return fail("INVALID_TRANSITION", kTooManyFiles);
      return act_or_wait(set, row, {.cause = Cause::retried, .actor = actor},
                         {.kind = PendingActionKind::retry,
                          .reason = {},
                          .actor = actor,
                          .name = {username, actor, set.now()}});
    case DeliveryStatus::queued:
      if (!renamed) return fail("INVALID_TRANSITION", "The delivery is queued already.");
      break;
    case DeliveryStatus::in_review:
      if (!renamed)
        return fail("INVALID_TRANSITION", "The delivery is in review: approve it to start an attempt.");
      break;
    case DeliveryStatus::waiting_for_friendship:
      if (!renamed)
        return fail("INVALID_TRANSITION",
                    "The delivery waits for the customer to accept the friend request.");
      break;
    case DeliveryStatus::failed:
      break;
    default:
      return set.try_apply(row, {.cause = Cause::retried, .actor = actor});
  }
  const auto asked = row.customer;
  const bool anew = !renamed && !keeps && takes_request_back(set, row);
  if (renamed) {
    change_customer(set, row, username, username, set.now(), actor);
  } else if (!username.empty()) {
    row.named_at = set.now();
  }
  set.changed(row);
  const auto aligned = remaps ? remap(set, row) : Alignment{};
  if (aligned.too_many && row.status != DeliveryStatus::in_review)
    return fail("INVALID_TRANSITION", kTooManyFiles);
  if (renamed)
    set.add_timeline_entry(row, actor, "The customer's username was changed.",
                           {.data = timeline_data({{"from", before}, {"to", username}})});
  if (row.status != DeliveryStatus::queued && row.status != DeliveryStatus::in_review) {
    Change change{.cause = row.status == DeliveryStatus::failed ? Cause::retried : Cause::username_changed,
                  .actor = actor};
    const bool owes = tally(set.items(row.id), row).owed > 0;
    if (owes) change.reasons = unapproved(set, row.id);
    if (owes && keeps) change.message = "The merchant waits for the customer's answer for another 14 days.";
    if (owes && anew && remaps) change.message = "The merchant asked for a new friend request.";
    set.apply(row, change);
  }
  if (row.status == DeliveryStatus::queued) conclude_or_queue(set, row, actor);
  if (!renamed) request_again(set, row, anew && row.customer == asked);
  if (renamed) leave_customer_unless_routed(set, row);
  return {};
}

// Continues a delivery that was brought to queued, or ends it where nothing is owed any more.
void DeliveryActions::conclude_or_queue(DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) {
  const auto items = tally(set.items(row.id), row);
  auto cause = domain::conclude_items(row.status, items).cause;
  // An order that could not be read at first may be mapped to nothing since: it has no items.
  if (!cause && items == domain::ItemTally{} && !order_state(set, row.id).too_large)
    cause = Cause::nothing_to_deliver;
  if (!cause) return queue_or_fail(set, row);
  if (cause != Cause::nothing_to_deliver) return set.apply(row, {.cause = *cause, .actor = actor});
  set.apply(row, nothing_left(set.items_with_lines(row.id), order_state(set, row.id), actor));
}

Task<Expected<DeliveryView>> DeliveryActions::retry(Executor& executor, identity::Principal by, DeliveryId id,
                                                    std::optional<std::string> username,
                                                    FriendRequest request) {
  const bool waits = request == FriendRequest::keep;
  co_return co_await act(executor, by, id, waits ? "delivery.wait_renewed" : "delivery.retried",
                         [=](DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) {
                           return retry_row(set, row, username.value_or(""), actor, request);
                         });
}

Task<Expected<DeliveryView>> DeliveryActions::invalidate(Executor& executor, identity::Principal by,
                                                         DeliveryId id, std::string reason) {
  co_return co_await act(executor, by, id, "delivery.invalidated",
                         [reason](DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) {
                           return invalidate_row(set, row, reason, actor);
                         });
}

Expected<void> DeliveryActions::invalidate_row(DeliverySet& set, storage::DeliveryRow& row,
                                               const std::string& reason, domain::Actor actor) {
  return act_or_wait(set, row, {.cause = Cause::invalidated_by_merchant, .reason = reason, .actor = actor},
                     {PendingActionKind::invalidate, reason, actor});
}

void DeliveryActions::act_in(Tx& tx, AccountId account, DeliveryId id, const BulkAction& wanted,
                             const std::function<bool(const storage::DeliveryRow&)>& is_chosen) {
  using domain::MerchantAction;
  DeliverySet set(tx, changes_);
  auto* const row = lock_for_action(set, id);
  if (row == nullptr || row->account != account) throw no_such_delivery();
  if (!is_chosen(*row)) throw Error{"INVALID_TRANSITION", "It is not what was chosen any more.", {}};
  const auto done = [&]() -> Expected<void> {
    switch (wanted.action) {
      case MerchantAction::retry:
        return retry_row(set, *row, "", wanted.actor);
      case MerchantAction::approve:
        return approve_row(set, *row, wanted.actor);
      case MerchantAction::invalidate:
        return invalidate_row(set, *row, wanted.reason, wanted.actor);
      case MerchantAction::change_username:
      case MerchantAction::complete:
      case MerchantAction::reopen:
      case MerchantAction::revoke:
        break;
    }
    return fail("INTERNAL_ERROR", "That is not done to many at once.");
  }();
  if (!done) throw Error(done.error());
  set.save();
}

Task<Expected<DeliveryView>> DeliveryActions::reopen(Executor& executor, identity::Principal by,
                                                     DeliveryId id) {
  co_return co_await act(
      executor, by, id, "delivery.reopened",
      [](DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) -> Expected<void> {
        if (auto allowed = check_not_erased(set.tx(), row.id); !allowed) return allowed;
        // Risk, payment and size of the order show too: an approval covers them (spec 3.1).
        const auto reasons = unapproved(set, row.id);
        return act_or_wait(
            set, row, {.cause = Cause::reopened, .reasons = reasons, .actor = actor},
            {.kind = PendingActionKind::reopen, .reason = "", .actor = actor, .reviews = reasons});
      });
}

Expected<void> DeliveryActions::approve_row(DeliverySet& set, storage::DeliveryRow& row,
                                            domain::Actor actor) {
  if (auto allowed = check_not_erased(set.tx(), row.id); !allowed) return allowed;
  const auto before = tally(set.items(row.id), row);
  if (row.status == DeliveryStatus::in_review && row.review_reasons.has(domain::ReviewReason::too_large) &&
      before.owed + before.sharing + before.shared == 0) {
    return fail("INVALID_TRANSITION",
                "The order is too large to be served, so there is nothing to approve: deliver it by hand and "
                "complete the delivery, or invalidate it.");
  }
  if (auto changed = set.try_apply(row, {.cause = Cause::approved, .actor = actor}); !changed) return changed;
  approve_order(set, row.id);
  // A line that became another product while the order was stopped was not mapped then.
  const bool changed_since = std::ranges::any_of(
      order_state(set, row.id).lines,
      [](const domain::OrderLine& line) { return line.mapped == domain::OrderLine::Mapped::not_yet; });
  if (changed_since) {
    const auto aligned = remap(set, row, domain::MappingIndex::Lines::not_mapped);
    if (aligned.too_many) return fail("INVALID_TRANSITION", kTooManyFiles);
  }
  // A file that a person took back is owed again only when a person says so (spec 3.10); and so is one that a stop
  // dropped after other files of the delivery had been shared.
  const auto& state = order_state(set, row.id);
  const domain::PaidItems paid(state);
  for (auto* const item : set.items_with_lines(row.id)) {
    const bool revoking = item->status == ItemStatus::revoking;
    const bool failed = item->status == ItemStatus::revoke_failed;
    const bool without =
        revoking || failed || item->status == ItemStatus::revoked || item->status == ItemStatus::dropped;
    if (item->former || !without || !paid.contains(item_now(*item))) continue;
    // The customer of before has it, or had it: the store or the buyer has changed the name since.
    const bool of_former = !item->username.empty() && item->username != row.username;
    if (of_former && !row.dry_run && item->status != ItemStatus::dropped) {
      leave_to_former(set, row, *item, ItemStatus::owed);
      continue;
    }
    // A share that the platform was not asked to revoke, or refused to, still exists; of any other failed
    // revocation nobody knows the effect. One that is under way is settled first (end_revocation()).
    if ((revoking || failed) && !item->revocation_begun) {
      item->status = ItemStatus::shared;
    } else if (!revoking) {
      item->status = ItemStatus::owed;
    }
    item->revoked_by.clear();
    set.changed(*item);
  }
  conclude_or_queue(set, row, actor);
  return {};
}

Task<Expected<DeliveryView>> DeliveryActions::approve(Executor& executor, identity::Principal by,
                                                      DeliveryId id) {
  co_return co_await act(executor, by, id, "delivery.approved",
                         [](DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) {
                           return approve_row(set, row, actor);
                         });
}

Task<Expected<DeliveryView>> DeliveryActions::complete(Executor& executor, identity::Principal by,
                                                       DeliveryId id) {
  co_return co_await act(
      executor, by, id, "delivery.completed_by_hand",
      [](DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) -> Expected<void> {
        if (auto allowed = check_not_erased(set.tx(), row.id); !allowed) return allowed;
        const bool reviewed = row.status == DeliveryStatus::in_review;
        if (auto changed = set.try_apply(row, {.cause = Cause::completed_by_hand, .actor = actor});
            !changed) {
          return changed;
        }
        if (nobody_pays(set.items(row.id), row, order_state(set, row.id)))
          return fail("INVALID_TRANSITION", kNothingPaid);
        // As for an approval: what a stop dropped is meant too.
        const auto dropped = reviewed ? paid_and_dropped(set, row.id) : std::set<ItemId>();
        for (auto* const item : set.items(row.id)) {
          if (item->former) continue;
          if (item->status == ItemStatus::owed || dropped.contains(item->id)) {
            item->status = ItemStatus::delivered_by_hand;
          } else if (item->status == ItemStatus::sharing) {
            item->by_hand = true;
          } else {
            continue;
          }
          set.changed(*item);
        }
        return {};
      });
}

Task<Expected<DeliveryView>> DeliveryActions::revoke(Executor& executor, identity::Principal by,
                                                     DeliveryId id, RevokeQuery which) {
  co_return co_await act(
      executor, by, id, "delivery.revocation_started",
      [which](DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor) -> Expected<void> {
        auto items = set.items(row.id);
        // Items of an earlier program have no username, unless they are a former customer's.
        for (auto* const item : items) {
          if (item->username.empty() && !item->former) item->username = row.username;
        }
        if (auto known = which.check(items); !known) return known;
        std::erase_if(items, [&](const storage::ItemRow* item) { return !which.selects(*item); });
        if (revoke_items(set, items, "merchant") == 0)
          return fail("INVALID_TRANSITION", "Nothing of that is shared.");
        set.add_timeline_entry(row, actor, "The shared files are being taken back.");
        return {};
      });
}

bool RevokeQuery::selects(const storage::ItemRow& item) const {
  if (!items.empty()) return std::ranges::find(items, item.id) != items.end();
  return username.empty() ? !item.former : item.username == username;
}

Expected<void> RevokeQuery::check(Items all) const {
  for (const auto id : items) {
    if (std::ranges::find(all, id, &storage::ItemRow::id) == all.end())
      return fail("VALIDATION_FAILED", "The delivery has no such item.",
                  {{"itemIds", to_string(id) + " is no item of this delivery"}});
  }
  if (!username.empty() && std::ranges::find(all, username, &storage::ItemRow::username) == all.end())
    return fail("VALIDATION_FAILED", "The delivery has nothing of that customer.",
                {{"username", "nobody of that name got a file of this delivery"}});
  return {};
}

}  // namespace presetbridge::services
