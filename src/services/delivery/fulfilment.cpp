#include "services/delivery/fulfilment.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "domain/delivery_outcome.h"
#include "domain/resolution.h"
#include "services/delivery/change_words.h"
#include "services/delivery/customer_change.h"
#include "services/delivery/revocation.h"
#include "services/delivery/routing.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/delivery_keys.h"

namespace presetbridge::services {
namespace {

using domain::Actor;
using domain::Cause;
using domain::DeliveryStatus;
using domain::ItemStatus;
using domain::MappingIndex;
using domain::OrderOutcome;
using domain::PendingActionKind;
using domain::ResolutionCode;
using domain::ReviewReason;

// Withdraws the stop or review that the order had asked of the job in progress, and asks no more.
void withdraw_pending(DeliverySet& set, const domain::OrderState& state, storage::DeliveryRow& row) {
  domain::ReviewReasons settled;
  if (state.payment() == domain::Payment::deliver) settled.add(ReviewReason::payment_withdrawn);
  if (!state.high_risk) settled.add(ReviewReason::high_risk);
  auto left = without_stop(row.pending, settled);
  if (left == row.pending) return;
  row.pending = std::move(left);
  // The stop, or the review, had replaced the action for another cloud account, which is still to be obeyed.
  const auto standing = find_standing(set.tx(), row.account);
  const bool moved = standing && standing->status == storage::CredentialsStatus::valid && row.cloud_account &&
                     row.cloud_account != standing->cloud_account;
  if (moved) row.pending = domain::combine(row.pending, {PendingActionKind::cloud_account_changed, "", {}});
  set.changed(row);
}

}  // namespace

bool is_dry_run(const domain::OrderState& state, const FulfilmentRules& rules) {
  return state.sample || (state.test && !rules.deliver_test_orders);
}

struct Fulfilment::Update {
  DeliverySet& set;
  storage::OrderRow& order;
  domain::OrderState& state;
  const FulfilmentRules& rules;
  const domain::OrderEvent& event;
  const domain::OrderChange& change;
  storage::DeliveryRow& row;           // of the set
  bool renamed = false;                // this event gave the row its first or another username
  domain::ReviewReasons against = {};  // the obstacles to queueing it
};

namespace {

// Whether an order without an item has lines that owe files: these were too many when the lines were mapped.
bool owed_too_many(const domain::OrderState& state) {
  using Mapped = domain::OrderLine::Mapped;
  return std::ranges::any_of(state.lines, [](const domain::OrderLine& line) {
    return line.mapped == Mapped::owes || line.mapped == Mapped::earlier;
  });
}

// Whether the event says something of an order that is too large to be read. One that is older than the event that
// said so does not: the merchant may have approved the size since (spec 2.6).
bool says_too_large(const domain::OrderState& state, const domain::OrderEvent& event,
                    const domain::OrderChange& change) {
  const bool late = event.updated_at && state.size_at && *event.updated_at < *state.size_at;
  return state.too_large && change.lines && !late;
}

bool any_unmapped_is_paid(const domain::OrderState& state) {
  const domain::PaidQuantities paid(state);
  return std::ranges::any_of(state.lines, [&](const domain::OrderLine& line) {
    return line.mapped == domain::OrderLine::Mapped::nothing && paid.of(line) > 0;
  });
}

}  // namespace

NewOrderPlan plan_new_order(domain::OrderState& state, const FulfilmentRules& rules,
                            MappingIndex::Lines lines) {
  // The platform's own sample is a dry run whatever its fields say (spec 2.11).
  if (!state.seen || state.erased || (state.stopped() && !state.sample))
    return {.outcome = OrderOutcome::stopped, .files = {}};
  if (!rules.active) return {.outcome = OrderOutcome::inactive, .files = {}};
  if (state.payment() == domain::Payment::awaiting_payment && !state.sample)
    return {.outcome = OrderOutcome::awaiting_payment, .files = {}};
  if (state.too_large) return {.outcome = OrderOutcome::delivery, .too_large = true, .files = {}};
  auto mapped_state = state;
  auto mapped = rules.mappings->map(mapped_state, lines);
  const bool paid =
      std::ranges::any_of(mapped.files, [](const domain::OwedFile& file) { return file.paid_quantity > 0; });
  // All that it would deliver is refunded: it becomes deliverable when some of it is paid.
  if (!mapped.files.empty() && !paid) {
    mapped.files.clear();
    // No delivery records what these lines owe: they are mapped once one of them is paid.
    for (auto& line : mapped_state.lines) {
      if (line.mapped == domain::OrderLine::Mapped::owes) line.mapped = domain::OrderLine::Mapped::not_yet;
    }
    if (!any_unmapped_is_paid(mapped_state)) {
      // Only a person has a line mapped that is not paid.
      if (lines == MappingIndex::Lines::all) state = std::move(mapped_state);
      return {.outcome = OrderOutcome::stopped, .files = {}};
    }
  }
  state = std::move(mapped_state);
  state.lines_mapped = true;
  rules.mappings->note_excess(state, mapped.too_many);
  NewOrderPlan plan{.outcome = OrderOutcome::no_mapped_items,
                    .unmapped = domain::unmapped_lines(state).value_or(0),
                    .too_large = mapped.too_many || state.too_many_refunds,
                    .files = std::move(mapped.files)};
  if (mapped.too_many || !plan.files.empty()) plan.outcome = OrderOutcome::delivery;
  return plan;
}

std::optional<storage::DeliveryRow> Fulfilment::fulfil(DeliverySet& set, LoadedOrder& loaded,
                                                       const FulfilmentRules& rules,
                                                       const domain::OrderEvent& event,
                                                       const domain::OrderChange& change, ApiKeyId key) {
  auto& [order, state] = loaded;
  set.changed(loaded);
  if (auto* const row = set.delivery(DeliveryId{order.id.value})) {
    Update update{.set = set,
                  .order = order,
                  .state = state,
                  .rules = rules,
                  .event = event,
                  .change = change,
                  .row = *row};
    align(update);
    if (update.renamed) leave_customer_unless_routed(set, *row);
    order.outcome = OrderOutcome::delivery;
    set.save();
    return *row;
  }
  auto plan = plan_new_order(state, rules);
  order.unmapped = domain::unmapped_lines(state).value_or(order.unmapped);
  // Lines that were mapped before keep their result: only a reprocessing maps all of them again.
  order.outcome = plan.outcome;
  if (plan.outcome != OrderOutcome::delivery) return std::nullopt;
  NewDeliveries created;
  plan_delivery(set, created, order, state, rules, plan, key);
  create(set, created);
  return std::move(created.rows.front());
}

void Fulfilment::plan_delivery(DeliverySet& set, NewDeliveries& created, const storage::OrderRow& order,
                               const domain::OrderState& state, const FulfilmentRules& rules,
                               const NewOrderPlan& plan, ApiKeyId key) {
  auto& row = created.rows.emplace_back();
  row.id = DeliveryId{order.id.value};
  row.account = order.account;
  row.integration = order.integration;
  row.order_key = order.order_key;
  row.api_key = key;
  row.username = state.username;
  row.raw_username = state.raw_username;
  row.named_at = state.username_at;
  row.email = state.email;
  row.refunded = state.refunded();
  row.dry_run = is_dry_run(state, rules);
  std::vector<storage::ItemRow> items;
  for (const auto& file : plan.files) items.push_back(item_of(row, file, changes_.ids()));

  Change change{.cause = Cause::order_accepted, .actor = Actor::order()};
  if (plan.too_large) {
    change.cause = Cause::order_too_large;
  } else if (state.high_risk) {
    change.cause = Cause::high_risk;
  } else if (rules.hold_all) {
    change.cause = Cause::order_held;
  } else if (auto failure = known_failure(set, row, pointers(items))) {
    failure->actor = change.actor;
    change = std::move(*failure);
  }
  if (state.high_risk) change.reasons.add(ReviewReason::high_risk);
  if (rules.hold_all) change.reasons.add(ReviewReason::held);
  created.changes.push_back(std::move(change));
  created.order_numbers.push_back(order.summary.number);
  std::ranges::move(items, std::back_inserter(created.items));
}

void Fulfilment::create(DeliverySet& set, NewDeliveries& created) {
  std::vector<storage::DeliveryRow*> queued;
  for (std::size_t i = 0; i < created.rows.size(); ++i) {
    if (created.changes[i].cause == Cause::order_accepted) queued.push_back(&created.rows[i]);
  }
  route(set, queued);
  changes_.create(set, created);
}

void Fulfilment::align(Update& update) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  row.refunded = state.refunded();
  row.cancelled = state.cancelled();
  if (!state.email.empty() && state.email != row.email) {
    replace_delivery_key(set.tx(), row.account, row.id, storage::KeyOf::email, row.email, state.email);
    row.email = state.email;
  }
  apply_username(update);
  set.changed(row);
  if (state.stopped()) return stop(update);
  if (state.erased) {
    take_back_refunded(update);
    return;
  }
  if (rules.active) withdraw_pending(set, state, row);

  domain::MappedOrder mapped;
  // An inactive store's event stops and drops, and makes nothing owed or queued (spec 2.14).
  if (!state.too_large && rules.active) {
    const bool anew =
        row.status == DeliveryStatus::invalidated && set.items(row.id).empty() && owed_too_many(state);
    mapped = rules.mappings->map(state, anew ? MappingIndex::Lines::all : MappingIndex::Lines::not_mapped);
    state.lines_mapped = true;
  }
  order.unmapped = domain::unmapped_lines(state).value_or(order.unmapped);
  // An order that is too large to be read does not say which files it owes.
  const auto aligned = state.too_large
                           ? Alignment{}
                           : align_items(set, row, state, mapped, !rules.mappings_stale,
                                         rules.active ? Owe::as_the_order_says : Owe::nothing_more);
  rules.mappings->note_excess(state, aligned.too_many);
  add_refund_entries(update, aligned);
  if (rules.auto_revoke) revoke_refunded(set, set.items(row.id), aligned.refunded);
  const bool has_name = has_new_name(update);
  if (review(update, aligned)) return;

  const auto items = tally(set.items(row.id), row);
  const bool ended = row.status == DeliveryStatus::completed || row.status == DeliveryStatus::invalidated;
  // It is owed once it is paid.
  if (ended && (against.has(ReviewReason::payment_withdrawn) || !rules.active)) return;
  if (row.status == DeliveryStatus::invalidated && row.invalidated_by != domain::InvalidatedBy::order) return;

  switch (row.status) {
    case DeliveryStatus::invalidated:
      // A share whose outcome was not known when it ended counts, too.
      if (items.owed + items.sharing + items.shared > 0 || against.has(ReviewReason::too_large))
        queue_again(update, Cause::paid_again);
      return;
    case DeliveryStatus::completed:
      // A refund of an order that was too large before adds nothing to what was delivered, by hand perhaps.
      if (items.owed > 0 || aligned.too_many || (change.grew && says_too_large(state, event, change)))
        queue_again(update, renamed ? Cause::customer_changed : Cause::new_items_owed);
      return;
    case DeliveryStatus::processing:
      // The job in progress reads the items again before its next step.
      if (aligned.owes_more && rules.hold_all) move_to_review(update, ReviewReason::held);
      return;
    default:
      break;
  }
  if (conclude(update, aligned)) return;
  const bool open =
      row.status == DeliveryStatus::queued || row.status == DeliveryStatus::waiting_for_friendship;
  if (open && aligned.owes_more && rules.hold_all) return move_to_review(update, ReviewReason::held);
  if (has_name) continue_renamed(update);
}

// Ends, or resumes, a delivery for the items that it owes now. True: nothing more follows from the event.
bool Fulfilment::conclude(Update& update, const Alignment& aligned) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  const auto items = tally(set.items(row.id), row);
  // The order does not owe the files any more for which the delivery failed.
  if (row.status == DeliveryStatus::failed && rules.active && aligned.owes_less && items.owed > 0 &&
      domain::resumes(row.resolution, domain::Remedy::mapping_saved)) {
    queue_again(update, Cause::cause_fixed);
    return true;
  }
  // A delivery that owed nothing when the merchant reopened it stays in review, unless the order owes less
  // now.
  if (row.status == DeliveryStatus::in_review && !aligned.owes_less) return true;
  const auto verdict = domain::conclude_items(row.status, items);
  if (!verdict.cause) return false;
  set.apply(row, verdict.cause == Cause::nothing_to_deliver
                     ? nothing_left(set.items_with_lines(row.id), state, Actor::order())
                     : Change{.cause = *verdict.cause, .actor = Actor::order()});
  return true;
}

void Fulfilment::add_refund_entries(Update& update, const Alignment& aligned) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  if (change.refunds) {
    // One without lines is of an amount, or of something else than products: it only flags the order (spec 2.11).
    const bool of_products = std::ranges::any_of(
        event.refunds, [](const domain::Refund& refund) { return !refund.lines.empty(); });
    set.add_timeline_entry(
        row, Actor::order(),
        of_products ? "The store refunded products of the order." : "The store reported a refund.");
  }
  if (aligned.owes_less) set.add_timeline_entry(row, Actor::order(), dropped_message(aligned));
}

// An order that is erased, or over, owes nothing more; what a refund or an edit takes out of it is dropped,
// or taken back, all the same.
Alignment Fulfilment::take_back_refunded(Update& update) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  auto aligned = state.too_large ? Alignment{} : align_items(set, row, state, {}, false, Owe::nothing_more);
  add_refund_entries(update, aligned);
  if (rules.auto_revoke) revoke_refunded(set, set.items(row.id), aligned.refunded);
  return aligned;
}

// A name from the store counts only where it differs from the store's former one; then the newest of store,
// buyer and merchant wins, while nothing is shared (spec 2.6).
void Fulfilment::apply_username(Update& update) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  const auto& waiting = row.pending.name;
  const bool waits = !waiting.username.empty();
  const auto& wanted = waits ? waiting.username : row.username;
  if (!change.username || state.username.empty() || state.username == wanted) return;
  const Timestamp given = event.updated_at.value_or(set.now());
  if (!row.username.empty()) {
    const auto& named_at = waits ? waiting.given : row.named_at;
    if (named_at && given < *named_at) return;
    if (anything_shared(set.items(row.id))) return;
  }
  set.add_timeline_entry(
      row, Actor::order(),
      wanted.empty() ? "The store named the customer." : "The store sent another username for the customer.");
  if (row.status == DeliveryStatus::processing) {
    row.pending = domain::combine(row.pending, {.kind = PendingActionKind::refresh,
                                                .reason = {},
                                                .actor = Actor::order(),
                                                .name = {state.username, Actor::order(), given}});
    return;
  }
  change_customer(set, row, state.username, state.raw_username, given, Actor::order());
  renamed = true;
}

// Whether the delivery waits for the name that it has now.
bool Fulfilment::has_new_name(const Update& update) {
  const auto& row = update.row;
  const bool failed = row.status == DeliveryStatus::failed;
  // One that came while the store was inactive was not looked up then.
  const bool missed = failed && !row.username.empty() &&
                      (row.resolution == ResolutionCode::username_missing ||
                       (!row.customer && domain::resumes(row.resolution, domain::Remedy::username_arrived)));
  return (update.renamed || missed) && (update.rules.active || !failed);
}

void Fulfilment::continue_renamed(Update& update) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  switch (row.status) {
    case DeliveryStatus::queued:
      return queue_or_fail(set, row);
    case DeliveryStatus::waiting_for_friendship:
      return queue_again(update, Cause::username_changed);
    case DeliveryStatus::failed:
      if (domain::resumes(row.resolution, domain::Remedy::username_arrived))
        queue_again(update, Cause::cause_fixed);
      return;
    default:
      return;
  }
}

// Applies the obstacles to the delivery that the event brings or ends. True: nothing more follows from the
// event.
bool Fulfilment::review(Update& update, const Alignment& aligned) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  const bool awaiting = state.payment() == domain::Payment::awaiting_payment;
  against = state.unapproved();
  // The merchant may have approved an older obstacle: only the event that brings one leads to review again.
  domain::ReviewReasons reasons;
  if (awaiting && change.payment) reasons.add(ReviewReason::payment_withdrawn);
  if (state.high_risk && change.risk) reasons.add(ReviewReason::high_risk);
  if (aligned.too_many || says_too_large(state, event, change) ||
      (change.lines && against.has(ReviewReason::too_large)))
    reasons.add(ReviewReason::too_large);
  against.add(reasons);
  if (row.status == DeliveryStatus::in_review) {
    reasons.add(row.review_reasons);
    // The payment may have returned while the store was inactive.
    const bool returned = rules.active && !awaiting && reasons.has(ReviewReason::payment_withdrawn);
    if (returned) reasons.remove(ReviewReason::payment_withdrawn);
    if (returned && rules.hold_all) reasons.add(ReviewReason::held);
    if (reasons.none()) {
      queue_again(update, Cause::payment_returned);
      return true;
    }
    if (reasons == row.review_reasons) return false;
    row.review_reasons = reasons;
    row.message = usual_message(domain::review_cause(reasons), reasons.gravest() == ReviewReason::too_large
                                                                   ? ResolutionCode::order_too_large
                                                                   : ResolutionCode::none);
    if (reasons.has(ReviewReason::too_large)) row.resolution = ResolutionCode::order_too_large;
    set.changed(row);
    set.add_timeline_entry(row, Actor::order(),
                           "The order changed; it is in review for: " + to_string(reasons) + ".");
    return false;
  }
  // A delivery under way goes to review now, any other one where it would be queued.
  if (reasons.none() || !is_open(row)) return false;
  move_to_review(update, reasons);
  return true;
}

// Brings a delivery that is under way to review; one in processing goes there when its job obeys.
void Fulfilment::move_to_review(Update& update, const domain::ReviewReasons& reasons) {
  auto& row = update.row;
  if (row.status == DeliveryStatus::processing) {
    row.pending = domain::combine(row.pending, domain::pending_review(reasons));
    return update.set.changed(row);
  }
  update.set.apply(row,
                   {.cause = domain::review_cause(reasons), .reasons = reasons, .actor = Actor::order()});
}

// Queues the delivery for a store's event, or brings it to review: where the store's orders are held, or for
// obstacles that nobody has approved.
void Fulfilment::queue_again(Update& update, Cause cause) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  if (rules.hold_all && cause != Cause::payment_returned)
    return set.apply(row, {.cause = Cause::held, .reasons = against, .actor = Actor::order()});
  const auto verdict = domain::conclude_items(DeliveryStatus::queued, tally(set.items(row.id), row));
  if (verdict.cause != Cause::nothing_left_owed || against.has(ReviewReason::too_large))
    return queue(set, row, {.cause = cause, .reasons = against, .actor = Actor::order()});
  set.apply(row, {.cause = cause, .actor = Actor::order()});
  set.apply(row, {.cause = *verdict.cause, .actor = Actor::order()});
}

// A delivery that was reopened after the stop is the merchant's, approved or not, until the order is stopped
// anew: only what is refunded, or taken out of the order, goes.
void Fulfilment::continue_stopped(Update& update) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  against = state.unapproved();
  if (change.lines) {
    const auto aligned = take_back_refunded(update);
    const bool ended = row.status == DeliveryStatus::completed || row.status == DeliveryStatus::invalidated;
    if (!ended && conclude(update, aligned)) return;
  }
  if (has_new_name(update)) continue_renamed(update);
}

void Fulfilment::stop(Update& update) {
  auto& [set, order, state, rules, event, change, row, renamed, against] = update;
  if (!change.payment) return continue_stopped(update);
  if (rules.auto_revoke && change.revokes) revoke_items(set, set.items(row.id), "order");
  const auto items = set.items(row.id);
  // A revocation that an approval had called off is the order's now: its end gives nothing back.
  for (auto* const item : items) {
    if (item->status != ItemStatus::revoking || !item->revoked_by.empty()) continue;
    item->revoked_by = "order";
    set.changed(*item);
  }
  const domain::PendingAction asked{PendingActionKind::stop, std::string(state.stop_reason()),
                                    Actor::order()};
  if (row.status == DeliveryStatus::processing) {
    row.pending = domain::combine(row.pending, asked);
    set.changed(row);
    set.add_timeline_entry(row, Actor::order(), "The order was stopped while files were being shared.");
    return;
  }
  const auto verdict = domain::conclude_stop(row.status, tally(items, row));
  // A completed delivery owes what was added and is not paid.
  if (verdict.drop_owed || row.status == DeliveryStatus::completed) drop_owed(set, items);
  if (verdict.cause) {
    set.apply(row, {.cause = *verdict.cause, .reason = asked.reason, .actor = Actor::order()});
  } else if (verdict.keep_pending) {
    // A share that was begun is settled first; the job that does it then obeys.
    row.pending = domain::combine(row.pending, asked);
    set.changed(row);
  } else if (row.status == DeliveryStatus::completed) {
    set.add_timeline_entry(row, Actor::order(),
                           state.stop_reason() == "order_refunded"
                               ? "The order was refunded after it was delivered."
                               : "The order was cancelled after it was delivered.");
  }
}

Change nothing_left(Items items, const domain::OrderState& state, Actor actor) {
  if (domain::refunds_took_all(items_now(items), state))
    return {.cause = Cause::stopped_by_order, .reason = "order_refunded", .actor = actor};
  return {.cause = Cause::nothing_to_deliver, .reason = "nothing_to_deliver", .actor = actor};
}

}  // namespace presetbridge::services
