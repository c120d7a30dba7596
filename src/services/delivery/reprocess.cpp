#include "services/delivery/reprocess.h"

#include <array>
#include <utility>

#include "domain/delivery_outcome.h"
#include "domain/resolution.h"
#include "services/delivery/erased.h"
#include "services/delivery/routing.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::MappingIndex;
using domain::OrderOutcome;
using domain::OrderState;
using storage::DeliveryRow;
using storage::Tx;

constexpr const char* kMessage = "The order was processed again with the mappings of now.";

std::unexpected<Error> refused(const char* why) {
  return fail("INVALID_TRANSITION", why);
}

// Continues the delivery as a store's later event with new items would, except that it is not held for the
// store's setting, as a person asked for it.
void continue_delivery(DeliverySet& set, DeliveryRow& row, const OrderState& state, const Alignment& aligned,
                       domain::Actor actor) {
  const auto items = tally(set.items(row.id), row);
  const bool ended = row.status == DeliveryStatus::completed || row.status == DeliveryStatus::invalidated;
  if (ended) {
    const bool back = row.status == DeliveryStatus::completed ? items.owed > 0
                                                              : items.owed + items.sharing + items.shared > 0;
    if (!back) return set.add_timeline_entry(row, actor, kMessage);
    const Change change{
        .cause = row.status == DeliveryStatus::completed ? Cause::new_items_owed : Cause::paid_again,
        .reasons = items.owed > 0 ? state.unapproved() : domain::ReviewReasons(),
        .message = kMessage,
        .actor = actor};
    const auto verdict = domain::conclude_items(DeliveryStatus::queued, items);
    if (verdict.cause != Cause::nothing_left_owed) return queue(set, row, change);
    set.apply(row, change);
    return set.apply(row, {.cause = *verdict.cause, .actor = actor});
  }
  set.add_timeline_entry(row, actor, kMessage);
  // The job in progress reads the items again before its next step.
  if (row.status == DeliveryStatus::processing) return;
  // Other files replaced the missing ones: the account task of the mappings finds nothing to replace any
  // more.
  if (row.status == DeliveryStatus::failed && aligned.owes_less && items.owed > 0 &&
      domain::resumes(row.resolution, domain::Remedy::mapping_saved)) {
    return queue(set, row, {.cause = Cause::cause_fixed, .reasons = state.unapproved(), .actor = actor});
  }
  // A delivery that owed nothing when it was reopened is the merchant's to decide.
  if (row.status == DeliveryStatus::in_review && !aligned.owes_less) return;
  const auto verdict = domain::conclude_items(row.status, items);
  if (!verdict.cause) return;
  set.apply(row, verdict.cause == Cause::nothing_to_deliver
                     ? nothing_left(set.items_with_lines(row.id), state, actor)
                     : Change{.cause = *verdict.cause, .actor = actor});
}

}  // namespace

Expected<void> may_reprocess(const OrderState& state, const DeliveryRow* delivery, bool active) {
  if (!active) return refused("The store is inactive: activate it first.");
  if (state.erased) return refuse_erased();
  if (!state.seen) return refused("The order itself has not come yet.");
  if (!state.sample) {
    if (state.stopped()) return refused("The order is cancelled or refunded.");
    if (state.payment() == domain::Payment::awaiting_payment && !state.approved_unpaid)
      return refused("The order is not paid.");
  }
  if (delivery == nullptr) return {};
  if (delivery->status == DeliveryStatus::invalidated &&
      delivery->invalidated_by != domain::InvalidatedBy::order)
    return refused("The delivery was invalidated by a person: reopen it.");
  if (state.too_large) return refused("The order has more lines than the service reads: deliver it by hand.");
  return {};
}

Expected<void> reprocess_order(Tx& tx, DeliveryChanges& changes, storage::OrderRow locked,
                               const FulfilmentRules& rules, domain::Actor actor, ApiKeyId key) {
  DeliverySet set(tx, changes);
  const auto decoded = state_of(locked);
  auto& loaded = set.adopt(std::move(locked), decoded);
  auto& [order, state] = loaded;
  if (auto fit = may_reprocess(state, nullptr, rules.active); !fit) return fit;
  const auto before = state.lines;
  const DeliveryId id{order.id.value};
  const auto standing = find_standing(tx, order.account).value_or(storage::CredentialsStanding{});
  hold_customers_of(tx, std::array{id},
                    std::array{storage::Buyer{standing.cloud_account, state.username, {}}});

  auto* const row = set.delivery(id);
  if (row == nullptr) {
    auto plan = plan_new_order(state, rules, MappingIndex::Lines::all);
    order.outcome = plan.outcome;
    order.unmapped = domain::unmapped_lines(state).value_or(order.unmapped);
    set.changed(loaded);
    if (plan.outcome == OrderOutcome::delivery) {
      Fulfilment fulfilment(changes);
      NewDeliveries created;
      fulfilment.plan_delivery(set, created, order, state, rules, plan, key);
      fulfilment.create(set, created);
      if (key && !created.rows.front().dry_run) count_api_key_webhook(tx, key, 0, 1);
      set.add_timeline_entry(created.rows.front(), actor, kMessage);
    }
    set.save();
    changes.report_unmapped(set, order, before, state, is_dry_run(state, rules));
    return {};
  }

  if (auto fit = may_reprocess(state, row, rules.active); !fit) return fit;
  const auto mapped = rules.mappings->map(state, MappingIndex::Lines::all);
  state.lines_mapped = true;
  const auto aligned = align_items(set, *row, state, mapped, !rules.mappings_stale);
  rules.mappings->note_excess(state, aligned.too_many);
  if (aligned.too_many) {
    throw Error{
        "INVALID_TRANSITION",
        "The mappings make more files of the order than are served: map fewer, or deliver it by hand.",
        {}};
  }
  order.outcome = OrderOutcome::delivery;
  order.unmapped = domain::unmapped_lines(state).value_or(order.unmapped);
  set.changed(loaded);
  continue_delivery(set, *row, state, aligned, actor);
  set.save();
  changes.report_unmapped(set, order, before, state, row->dry_run);
  return {};
}

}  // namespace presetbridge::services
