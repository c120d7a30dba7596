#include "services/delivery/fulfilment.h"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

#include "domain/delivery_outcome.h"
#include "domain/job_class.h"
#include "domain/resolution.h"
#include "services/delivery/routing.h"
#include "storage/cloud_account_store.h"
#include "storage/customer_store.h"

namespace presetbridge::services {
namespace {

using domain::Actor;
using domain::Cause;
using domain::DeliveryStatus;
using domain::ItemStatus;
using domain::PendingActionKind;
using domain::ResolutionCode;
using storage::Tx;

std::string lines_json(const std::vector<std::string>& line_ids) {
  return boost::json::serialize(boost::json::array(line_ids.begin(), line_ids.end()));
}

// The order says again that it is to be delivered: what it had asked of the job in progress is not asked any
// more.
void withdraw_pending(Tx& tx, storage::DeliveryRow& row) {
  const bool by_order = row.pending.kind == PendingActionKind::stop ||
                        row.pending.kind == PendingActionKind::payment_withdrawn ||
                        row.pending.kind == PendingActionKind::high_risk;
  if (!by_order || row.pending.actor != Actor::order()) return;
  row.pending = {};
  update_delivery(tx, row);
}

std::vector<domain::ItemNow> items_now(const std::vector<storage::ItemRow>& items) {
  std::vector<domain::ItemNow> now;
  for (const auto& item : items) now.push_back({item.id, item.file_id, item.status, line_ids(item)});
  return now;
}

}  // namespace

std::vector<std::string> line_ids(const storage::ItemRow& item) {
  std::vector<std::string> ids;
  for (const auto& id : boost::json::parse(item.lines).as_array()) ids.emplace_back(id.as_string());
  return ids;
}

NewOrderPlan plan_new_order(const domain::OrderState& state, const FulfilmentRules& rules) {
  if (!rules.active) return {.outcome = "inactive"};
  if (!state.seen || state.stopped()) return {.outcome = "stopped"};
  if (state.payment() == domain::Payment::awaiting_payment) return {.outcome = "awaiting_payment"};
  if (state.too_large) return {.outcome = "delivery"};
  auto mapped = rules.mappings->map(state);
  NewOrderPlan plan{.outcome = mapped.files.empty() ? "no_mapped_items" : "stopped",
                    .unmapped = mapped.unmapped};
  std::erase_if(mapped.files, [](const domain::OwedFile& file) { return file.paid_quantity <= 0; });
  if (mapped.files.empty()) return plan;
  plan.outcome = "delivery";
  plan.files = std::move(mapped.files);
  return plan;
}

std::optional<storage::DeliveryRow> Fulfilment::fulfil(Tx& tx, storage::OrderRow& order,
                                                       const domain::OrderState& state,
                                                       const FulfilmentRules& rules, Occasion occasion,
                                                       const domain::OrderChange& change) {
  if (auto row = lock_delivery(tx, DeliveryId{order.id.value})) {
    align(tx, order, state, rules, *row, occasion, change);
    order.outcome = "delivery";
    return row;
  }
  const auto plan = plan_new_order(state, rules);
  order.outcome = plan.outcome;
  order.unmapped = plan.unmapped;
  if (plan.outcome != "delivery") return std::nullopt;
  AccountFacts facts(tx);
  NewDeliveries created;
  plan_delivery(created, order, state, rules, plan, facts);
  create(tx, created, facts);
  return std::move(created.rows.front());
}

void Fulfilment::plan_delivery(NewDeliveries& created, const storage::OrderRow& order,
                               const domain::OrderState& state, const FulfilmentRules& rules,
                               const NewOrderPlan& plan, AccountFacts& facts) {
  auto& row = created.rows.emplace_back();
  row.id = DeliveryId{order.id.value};
  row.account = order.account;
  row.integration = order.integration;
  row.order_key = order.order_key;
  row.username = state.username;
  row.raw_username = state.raw_username;
  row.email = state.email;
  row.refunded = state.refunded();
  row.dry_run = state.test && !rules.deliver_test_orders;

  Change change{.cause = Cause::order_accepted, .actor = Actor::order()};
  if (state.too_large) {
    change.cause = Cause::order_too_large;
    change.code = ResolutionCode::order_too_large;
  } else if (rules.hold_all) {
    change.cause = Cause::order_held;
  } else if (state.high_risk) {
    change.cause = Cause::order_held;
    change.reason = "high_risk";
  } else if (const auto cause = known_cause(facts, row); cause != ResolutionCode::none) {
    change.cause = Cause::known_cause;
    change.code = cause;
    change.message = facts.words_of(cause, row.account);
  }
  created.changes.push_back(std::move(change));
  for (const auto& file : plan.files) created.items.push_back(owed_item(row, file));
}

void Fulfilment::create(Tx& tx, NewDeliveries& created, AccountFacts& facts) {
  std::vector<storage::DeliveryRow*> queued;
  for (std::size_t i = 0; i < created.rows.size(); ++i) {
    if (created.changes[i].cause == Cause::order_accepted) queued.push_back(&created.rows[i]);
  }
  route(tx, changes_.ids(), queued, facts);
  changes_.create(tx, created, facts);
}

storage::ItemRow Fulfilment::owed_item(const storage::DeliveryRow& row, const domain::OwedFile& file) {
  storage::ItemRow item;
  item.id = changes_.ids().make<ItemId>();
  item.delivery = row.id;
  item.account = row.account;
  item.file_id = file.file_id;
  item.kind = file.kind;
  item.name = file.name.empty() ? file.file_id : file.name;
  item.matched_by = std::string(domain::to_string(file.matched_by));
  item.quantity = std::max<std::int64_t>(file.quantity, 1);
  item.lines = lines_json(file.line_ids);
  return item;
}

void Fulfilment::align(Tx& tx, storage::OrderRow& order, const domain::OrderState& state,
                       const FulfilmentRules& rules, storage::DeliveryRow& row, Occasion occasion,
                       const domain::OrderChange& change) {
  row.refunded = state.refunded();
  row.cancelled = state.cancelled();
  if (!state.email.empty()) row.email = state.email;
  // A missing username is filled in, and one that leads nowhere replaced by one that the store sends now; any
  // other is the merchant's to change.
  const bool needs_username =
      row.username.empty() || (change.username && row.status == DeliveryStatus::failed &&
                               row.resolution == ResolutionCode::username_not_found);
  const bool username_arrived = needs_username && !state.username.empty() && state.username != row.username;
  if (username_arrived) {
    row.username = state.username;
    row.raw_username = state.raw_username;
  } else if (change.username && row.status == DeliveryStatus::processing) {
    row.offered_username = state.username == row.username ? "" : state.username;
  }
  update_delivery(tx, row);

  if (state.stopped()) return stop(tx, state, rules, row);
  if (state.too_large) return;
  // What is not paid any more is dropped, whatever else is the matter. Mappings only add: one that is gone or
  // stale takes nothing away.
  auto statuses = drop_refunded(tx, state, row.id);
  if (occasion == Occasion::later_event) {
    const auto mapped = rules.mappings->map(state);
    order.unmapped = mapped.unmapped;
    statuses = align_items(tx, mapped, row, false);
  }

  // The merchant may have approved since: only the event that says so brings it back to review.
  const bool awaiting = state.payment() == domain::Payment::awaiting_payment;
  if (awaiting && change.payment) {
    return review(tx, row, Cause::payment_withdrawn, PendingActionKind::payment_withdrawn,
                  "payment_withdrawn");
  }
  if (state.high_risk && change.risk) {
    return review(tx, row, Cause::high_risk, PendingActionKind::high_risk, "high_risk");
  }
  const bool ended = row.status == DeliveryStatus::completed || row.status == DeliveryStatus::invalidated;
  if ((state.unapproved_payment() || state.unapproved_risk()) && ended) return;
  if (row.status == DeliveryStatus::invalidated && row.invalidated_by != domain::InvalidatedBy::order) return;
  if (!awaiting && !state.high_risk) withdraw_pending(tx, row);

  if (row.status == DeliveryStatus::invalidated) {
    if (domain::tally(statuses).owed == 0) return;
    changes_.apply(tx, row, {.cause = Cause::paid_again, .actor = Actor::order()}).value();
    return queue_or_fail(tx, changes_, row);
  }
  if (username_arrived && row.status == DeliveryStatus::failed &&
      domain::resumes(row.resolution, domain::Remedy::username_arrived)) {
    return resume(tx, changes_, row, Actor::order());
  }
  // A job in progress reads the items again before its next step; nothing else is needed.
  if (row.status == DeliveryStatus::processing) return;
  const auto verdict = domain::conclude_items(row.status, domain::tally(statuses));
  if (!verdict.cause) return;
  changes_
      .apply(tx, row,
             {.cause = *verdict.cause,
              .reason = verdict.cause == Cause::stopped_by_order ? "order_refunded" : "",
              .actor = Actor::order()})
      .value();
  if (row.status == DeliveryStatus::queued) queue_or_fail(tx, changes_, row);
}

std::vector<ItemStatus> Fulfilment::drop_refunded(Tx& tx, const domain::OrderState& state,
                                                  DeliveryId delivery) {
  auto items = find_items(tx, delivery);
  const auto refunded = domain::refunded_items(items_now(items), state);
  std::vector<ItemStatus> statuses;
  for (auto& item : items) {
    if (std::ranges::find(refunded, item.id) != refunded.end()) {
      item.status = ItemStatus::dropped;
      update_item(tx, item);
    }
    statuses.push_back(item.status);
  }
  return statuses;
}

std::vector<ItemStatus> Fulfilment::align_items(Tx& tx, const domain::MappedOrder& mapped,
                                                const storage::DeliveryRow& row, bool may_drop) {
  auto items = find_items(tx, row.id);
  const auto plan = domain::plan_items(items_now(items), mapped);
  for (auto& item : items) {
    if (std::ranges::find(plan.restore, item.id) != plan.restore.end()) {
      item.status = ItemStatus::owed;
    } else if (may_drop && std::ranges::find(plan.drop, item.id) != plan.drop.end()) {
      item.status = ItemStatus::dropped;
    } else {
      continue;
    }
    update_item(tx, item);
  }
  for (const auto& file : plan.add) {
    items.push_back(owed_item(row, file));
    insert_items(tx, std::span(&items.back(), 1));
  }
  std::vector<ItemStatus> statuses;
  for (const auto& item : items) statuses.push_back(item.status);
  return statuses;
}

void Fulfilment::stop(Tx& tx, const domain::OrderState& state, const FulfilmentRules& rules,
                      storage::DeliveryRow& row) {
  if (rules.auto_revoke) revoke_shared_items(tx, row.id);
  if (row.status == DeliveryStatus::processing) {
    row.pending = domain::combine(
        row.pending, {PendingActionKind::stop, std::string(state.stop_reason()), "", Actor::order()});
    update_delivery(tx, row);
    changes_.note(tx, row, Actor::order(), "The order was stopped while files were being shared.");
    return;
  }
  std::vector<ItemStatus> statuses;
  for (const auto& item : find_items(tx, row.id)) statuses.push_back(item.status);
  const auto verdict = domain::conclude_stop(row.status, domain::tally(statuses));
  if (verdict.drop_owed) drop_owed(tx, row.id);
  if (verdict.cause) {
    changes_
        .apply(tx, row,
               {.cause = *verdict.cause, .reason = std::string(state.stop_reason()), .actor = Actor::order()})
        .value();
  } else if (verdict.keep_pending) {
    // What was begun is settled first; the job that does it then obeys.
    row.pending = domain::combine(
        row.pending, {PendingActionKind::stop, std::string(state.stop_reason()), "", Actor::order()});
    update_delivery(tx, row);
  }
}

void Fulfilment::drop_owed(Tx& tx, DeliveryId delivery) {
  for (auto& item : find_items(tx, delivery)) {
    if (item.status != ItemStatus::owed) continue;
    item.status = ItemStatus::dropped;
    update_item(tx, item);
  }
}

void Fulfilment::review(Tx& tx, storage::DeliveryRow& row, Cause cause, PendingActionKind pending,
                        std::string reason) {
  if (row.status == DeliveryStatus::processing) {
    row.pending = domain::combine(row.pending, {pending, std::move(reason), "", Actor::order()});
    update_delivery(tx, row);
  } else if (row.status == DeliveryStatus::queued || row.status == DeliveryStatus::waiting_for_friendship) {
    changes_.apply(tx, row, {.cause = cause, .reason = std::move(reason), .actor = Actor::order()}).value();
  }
}

void erase_delivery(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row) {
  row.email.clear();
  row.raw_username.clear();
  row.username.clear();  // a job in progress has it from the customer's row
  row.pending.username.clear();
  row.offered_username.clear();
  if (row.status == DeliveryStatus::processing) {
    row.pending = domain::combine(row.pending, {PendingActionKind::erase, "erased", "", Actor::order()});
    return update_delivery(tx, row);
  }
  update_delivery(tx, row);
  if (row.status == DeliveryStatus::completed || row.status == DeliveryStatus::invalidated) return;
  changes.apply(tx, row, {.cause = Cause::erased, .reason = "erased", .actor = Actor::order()}).value();
}

int revoke_shared_items(Tx& tx, DeliveryId delivery) {
  int revoked = 0;
  for (auto& item : find_items(tx, delivery)) {
    const bool carries = item.status == ItemStatus::shared || item.status == ItemStatus::revoke_failed;
    // A dry run shared with nobody.
    if (!item.customer || (!carries && item.status != ItemStatus::already_shared)) continue;
    auto others = find_items_of_customers(tx, std::array{item.customer});
    std::erase_if(others, [&](const storage::ItemRow& other) {
      return other.id == item.id || other.file_id != item.file_id ||
             (other.status != ItemStatus::shared && other.status != ItemStatus::already_shared &&
              other.status != ItemStatus::revoking && other.status != ItemStatus::revoke_failed);
    });
    const auto heir = std::ranges::find(others, ItemStatus::already_shared, &storage::ItemRow::status);
    if (!carries) {
      const bool ours = std::ranges::any_of(
          others, [](const storage::ItemRow& other) { return other.status != ItemStatus::already_shared; });
      // Nobody here made that share: it is not ours to take back.
      if (!ours) continue;
      item.status = ItemStatus::revoked;
    } else if (heir != others.end()) {
      heir->status = ItemStatus::shared;
      update_item(tx, *heir);
      item.status = ItemStatus::revoked;
    } else {
      item.status = ItemStatus::revoking;
    }
    update_item(tx, item);
    ++revoked;
    if (item.status != ItemStatus::revoking) continue;
    enqueue_customer(tx, item.customer, domain::JobClass::settlement, tx.now());
    if (const auto customer = lock_customer(tx, item.customer)) {
      wake_cloud_account(tx, customer->cloud_account, tx.now());
    }
  }
  return revoked;
}

}  // namespace presetbridge::services
