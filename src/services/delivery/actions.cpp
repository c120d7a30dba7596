#include "services/delivery/actions.h"

#include <algorithm>
#include <array>

#include "domain/delivery_outcome.h"
#include "domain/job_class.h"
#include "domain/order.h"
#include "services/delivery/customer_change.h"
#include "services/delivery/fulfilment.h"
#include "services/delivery/remap.h"
#include "services/delivery/revocation.h"
#include "services/delivery/routing.h"
#include "storage/audit_store.h"
#include "storage/cloud_account_store.h"
#include "storage/customer_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::ItemStatus;
using domain::PendingActionKind;
using domain::ResolutionCode;
using storage::Friendship;
using storage::Tx;

constexpr const char* kTooManyFiles =
    "The mappings make more files of the order than are served: map fewer, or deliver it by hand.";

// What stands against delivering the order is approved with it: a resumption does not ask again.
domain::OrderState approve_order(Tx& tx, const storage::DeliveryRow& row) {
  auto order = lock_order(tx, OrderId{row.id.value});
  if (!order) return {};
  auto state = domain::decode_order_state(order->state);
  if (!state) throw Error(state.error());
  state->approve();
  order->updated_at = tx.now();
  set_state(*order, *state);
  update_order(tx, *order);
  return std::move(*state);
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

// A merchant who tries again after a refusal, or no answer, wants the customer to be asked anew: a request
// that stands is withdrawn first (spec 3.5).
void ask_again(Tx& tx, const storage::DeliveryRow& row) {
  if (!row.customer) return;
  auto customer = lock_customer(tx, row.customer);
  if (!customer) return;
  customer->ask_anew = customer->ask_anew || row.resolution == ResolutionCode::friend_request_declined ||
                       row.resolution == ResolutionCode::friendship_timeout;
  if (customer->friendship != Friendship::friends) customer->friendship = Friendship::unknown;
  update_customer(tx, *customer);
}

}  // namespace

Task<Expected<DeliveryView>> DeliveryActions::get(Executor& executor, identity::Principal by, DeliveryId id) {
  co_return co_await commits_.read(executor, [this, by, id](Tx& tx) -> Expected<DeliveryView> {
    auto row = find_delivery(tx, id);
    if (!row || !visible(by, *row)) return fail("NOT_FOUND", "There is no such delivery.");
    return view_of(tx, std::move(*row), jobs_per_minute_);
  });
}

Task<Expected<storage::Page<ShownEntry>>> DeliveryActions::timeline(Executor& executor,
                                                                    identity::Principal by, DeliveryId id,
                                                                    storage::PageRequest page) {
  co_return co_await commits_.read(executor, [by, id, page](Tx& tx) -> Expected<storage::Page<ShownEntry>> {
    const auto row = find_delivery(tx, id);
    if (!row || !visible(by, *row)) return fail("NOT_FOUND", "There is no such delivery.");
    return timeline_of(tx, *row, page);
  });
}

Task<Expected<storage::Page<DeliverySummary>>> DeliveryActions::list(Executor& executor,
                                                                     identity::Principal by,
                                                                     storage::DeliveryFilter filter) {
  limit_to(by, filter);
  co_return co_await commits_.read(executor, [this, filter](Tx& tx) {
    auto found = list_deliveries(tx, filter);
    return storage::Page<DeliverySummary>{.rows = summaries_of(tx, std::move(found.rows), jobs_per_minute_),
                                          .next = found.next};
  });
}

Task<Expected<storage::DeliveryCount>> DeliveryActions::count(Executor& executor, identity::Principal by,
                                                              storage::DeliveryFilter filter) {
  limit_to(by, filter);
  co_return co_await commits_.read(executor, [filter](Tx& tx) { return count_deliveries(tx, filter); });
}

Task<Expected<DeliveryView>> DeliveryActions::renew_link(Executor& executor, identity::Principal by,
                                                         DeliveryId id) {
  co_return co_await act(executor, by, id, "delivery.link_renewed",
                         [this](Tx& tx, storage::DeliveryRow& row, domain::Actor actor) -> Expected<void> {
                           ++row.link_version;
                           update_delivery(tx, row);
                           changes_.note(tx, row, actor, "The buyer's link was made anew.");
                           return {};
                         });
}

Task<Expected<DeliveryView>> DeliveryActions::act(Executor& executor, identity::Principal by, DeliveryId id,
                                                  const char* name, Act act) {
  auto result =
      co_await commits_.write(executor, [this, by, id, name, act](Tx& tx) -> Expected<DeliveryView> {
        // First, as intake does: an action may change the order too.
        lock_order(tx, OrderId{id.value});
        hold_customers_of(tx, std::array{id});
        auto row = lock_delivery(tx, id);
        if (!row || !visible(by, *row)) return fail("NOT_FOUND", "There is no such delivery.");
        if (auto done = act(tx, *row, by.actor()); !done) throw Error(done.error());
        insert_audit(tx, changes_.ids(), {row->account, to_string(by.actor()), name, to_string(id), ""});
        return view_of(tx, std::move(*row), jobs_per_minute_);
      });
  if (result) changed_();
  co_return result;
}

Expected<void> DeliveryActions::act_or_wait(Tx& tx, storage::DeliveryRow& row, const Change& change,
                                            domain::PendingAction pending) {
  if (row.status != DeliveryStatus::processing) return changes_.apply(tx, row, change);
  pending.actor = change.actor;
  row.pending = domain::combine(row.pending, pending);
  update_delivery(tx, row);
  changes_.note(
      tx, row, change.actor,
      "Asked for while the delivery was being worked on: " + std::string(to_string(pending.kind)) + ".");
  return {};
}

Expected<void> DeliveryActions::retry_row(Tx& tx, storage::DeliveryRow& row, const std::string& username,
                                          domain::Actor actor) {
  const bool renamed = !username.empty() && username != row.username;
  const std::string before = row.username;
  // Judged first: what is refused costs nothing.
  switch (row.status) {
    case DeliveryStatus::processing:
      if (remap(tx, changes_, row).too_many) return fail("INVALID_TRANSITION", kTooManyFiles);
      return act_or_wait(tx, row, {.cause = Cause::retried, .actor = actor},
                         {.kind = PendingActionKind::retry,
                          .reason = {},
                          .actor = actor,
                          .name = {username, actor, tx.now()}});
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
      return changes_.apply(tx, row, {.cause = Cause::retried, .actor = actor});
  }
  if (renamed) {
    change_customer(tx, changes_.ids(), row, username, username, tx.now());
  } else {
    ask_again(tx, row);
    if (!username.empty()) row.named_at = tx.now();
  }
  const auto aligned = remap(tx, changes_, row);
  if (aligned.too_many && row.status != DeliveryStatus::in_review)
    return fail("INVALID_TRANSITION", kTooManyFiles);
  if (renamed)
    changes_.note(tx, row, actor, "The customer's username was changed.",
                  {.data = told_of({{"from", before}, {"to", username}})});
  if (row.status == DeliveryStatus::queued || row.status == DeliveryStatus::in_review) {
    update_delivery(tx, row);
  } else {
    Change change{.cause = row.status == DeliveryStatus::failed ? Cause::retried : Cause::username_changed,
                  .actor = actor};
    if (tally(aligned.items).owed > 0) change.reasons = unapproved(tx, row.id);
    changes_.must_apply(tx, row, change);
  }
  if (row.status == DeliveryStatus::queued) conclude_or_queue(tx, row, aligned.items, actor);
  return {};
}

// A delivery that was brought to queued goes on, or ends where nothing is owed any more.
void DeliveryActions::conclude_or_queue(Tx& tx, storage::DeliveryRow& row,
                                        std::span<const storage::ItemRow> items, domain::Actor actor) {
  const auto verdict = domain::conclude_items(row.status, tally(items));
  if (!verdict.cause) return queue_or_fail(tx, changes_, row);
  if (verdict.cause != Cause::nothing_to_deliver)
    return changes_.must_apply(tx, row, {.cause = *verdict.cause, .actor = actor});
  const auto order = find_order(tx, OrderId{row.id.value});
  const auto state = order ? domain::decode_order_state(order->state) : domain::OrderState{};
  if (!state) throw Error(state.error());
  changes_.must_apply(tx, row, nothing_left(items, *state, actor));
}

Task<Expected<DeliveryView>> DeliveryActions::retry(Executor& executor, identity::Principal by, DeliveryId id,
                                                    std::optional<std::string> username) {
  co_return co_await act(executor, by, id, "delivery.retried",
                         [this, username](Tx& tx, storage::DeliveryRow& row, domain::Actor actor) {
                           return retry_row(tx, row, username.value_or(""), actor);
                         });
}

Task<Expected<DeliveryView>> DeliveryActions::invalidate(Executor& executor, identity::Principal by,
                                                         DeliveryId id, std::string reason) {
  co_return co_await act(executor, by, id, "delivery.invalidated",
                         [this, reason](Tx& tx, storage::DeliveryRow& row, domain::Actor actor) {
                           return act_or_wait(
                               tx, row,
                               {.cause = Cause::invalidated_by_merchant, .reason = reason, .actor = actor},
                               {PendingActionKind::invalidate, reason, actor});
                         });
}

Task<Expected<DeliveryView>> DeliveryActions::reopen(Executor& executor, identity::Principal by,
                                                     DeliveryId id) {
  co_return co_await act(executor, by, id, "delivery.reopened",
                         [this](Tx& tx, storage::DeliveryRow& row, domain::Actor actor) {
                           return act_or_wait(tx, row, {.cause = Cause::reopened, .actor = actor},
                                              {PendingActionKind::reopen, "", actor});
                         });
}

Expected<void> DeliveryActions::approve_row(Tx& tx, storage::DeliveryRow& row, domain::Actor actor) {
  auto items = find_items(tx, row.id);
  const auto before = tally(items);
  if (row.status == DeliveryStatus::in_review && row.review_reasons.has(domain::ReviewReason::too_large) &&
      before.owed + before.sharing + before.shared == 0) {
    return fail("INVALID_TRANSITION",
                "The order is too large to be served, so there is nothing to approve: deliver it by hand and "
                "complete the delivery, or invalidate it.");
  }
  if (auto changed = changes_.apply(tx, row, {.cause = Cause::approved, .actor = actor}); !changed)
    return changed;
  const auto state = approve_order(tx, row);
  // What a person took back is owed again only when a person says so (spec 3.10).
  const domain::PaidItems paid(state);
  change_items(tx, items, [&](storage::ItemRow& item) {
    if (item.former || item.status != ItemStatus::revoked || !paid.contains(item_now(item))) return false;
    item.status = ItemStatus::owed;
    item.revoked_by.clear();
    return true;
  });
  conclude_or_queue(tx, row, items, actor);
  return {};
}

Task<Expected<DeliveryView>> DeliveryActions::approve(Executor& executor, identity::Principal by,
                                                      DeliveryId id) {
  co_return co_await act(
      executor, by, id, "delivery.approved",
      [this](Tx& tx, storage::DeliveryRow& row, domain::Actor actor) { return approve_row(tx, row, actor); });
}

Task<Expected<DeliveryView>> DeliveryActions::complete(Executor& executor, identity::Principal by,
                                                       DeliveryId id) {
  co_return co_await act(
      executor, by, id, "delivery.completed_by_hand",
      [this](Tx& tx, storage::DeliveryRow& row, domain::Actor actor) -> Expected<void> {
        if (auto changed = changes_.apply(tx, row, {.cause = Cause::completed_by_hand, .actor = actor});
            !changed) {
          return changed;
        }
        auto items = find_items(tx, row.id);
        change_items(tx, items, [](storage::ItemRow& item) {
          if (item.status != ItemStatus::owed || item.former) return false;
          item.status = ItemStatus::delivered_by_hand;
          return true;
        });
        return {};
      });
}

Task<Expected<DeliveryView>> DeliveryActions::revoke(Executor& executor, identity::Principal by,
                                                     DeliveryId id, RevokeQuery which) {
  co_return co_await act(
      executor, by, id, "delivery.revocation_started",
      [this, which](Tx& tx, storage::DeliveryRow& row, domain::Actor actor) -> Expected<void> {
        auto items = find_items(tx, row.id);
        // Rows of before do not say whose they are: only a former customer's always did.
        for (auto& item : items) {
          if (item.username.empty() && !item.former) item.username = row.username;
        }
        if (auto known = which.check(items); !known) return known;
        std::erase_if(items, [&](const storage::ItemRow& item) { return !which.takes(item); });
        if (revoke_items(tx, changes_, items, "merchant") == 0)
          return fail("INVALID_TRANSITION", "Nothing of that is shared.");
        changes_.note(tx, row, actor, "The shared files are being taken back.");
        return {};
      });
}

bool RevokeQuery::takes(const storage::ItemRow& item) const {
  if (!items.empty()) return std::ranges::find(items, item.id) != items.end();
  return username.empty() ? !item.former : item.username == username;
}

Expected<void> RevokeQuery::check(std::span<const storage::ItemRow> all) const {
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
