#include "domain/delivery_outcome.h"

namespace presetbridge::domain {
namespace {

bool settled(const ItemTally& items) {
  return items.owed == 0 && items.sharing == 0;
}
bool done(const ItemTally& items) {
  return settled(items) && items.shared > 0;
}

// The cause that ends a delivery which owes nothing any more.
std::optional<Cause> end_of(const ItemTally& items) {
  if (!settled(items)) return std::nullopt;
  return items.shared > 0 ? Cause::nothing_left_owed : Cause::nothing_to_deliver;
}

// `ended` is the cause that invalidates when nothing reached the customer.
Verdict stop_with(Cause ended, const ItemTally& items) {
  if (items.shared == 0) return {.cause = ended};
  if (items.sharing == 0) return {.cause = Cause::nothing_left_owed, .drop_owed = true};
  return {.drop_owed = true, .keep_pending = true};
}

Verdict go_on(const ItemTally& items, Finding finding, ResolutionCode code) {
  if (const auto end = end_of(items)) return {.cause = end};
  switch (finding) {
    case Finding::permanent:
      return {.cause = Cause::permanent_failure, .code = code};
    case Finding::request_sent:
      return {.cause = Cause::request_sent};
    case Finding::still_waiting:
      return {.cause = Cause::still_waiting};
    case Finding::account_trouble:
      return {.cause = Cause::account_trouble};
    case Finding::shutting_down:
      return {.cause = Cause::shutdown};
    case Finding::lease_lost:
      return {.cause = Cause::lease_expired};
    // A job that did what it could and yet left something met an unknown outcome.
    case Finding::worked:
    case Finding::transient:
      break;
  }
  return {.cause = Cause::transient_failure};
}

}  // namespace

ItemTally tally(std::span<const ItemStatus> items) {
  ItemTally t;
  for (const ItemStatus item : items) {
    switch (item) {
      case ItemStatus::owed:
        ++t.owed;
        break;
      case ItemStatus::sharing:
        ++t.sharing;
        break;
      case ItemStatus::dropped:
        ++t.dropped;
        break;
      case ItemStatus::shared:
      case ItemStatus::already_shared:
      case ItemStatus::delivered_by_hand:
      case ItemStatus::revoking:
      case ItemStatus::revoked:
      case ItemStatus::revoke_failed:
        ++t.shared;
        break;
    }
  }
  return t;
}

Verdict conclude_job(const ItemTally& items, Finding finding, ResolutionCode code,
                     const PendingAction& pending) {
  switch (pending.kind) {
    case PendingActionKind::none:
      return go_on(items, finding, code);
    case PendingActionKind::refresh:
      return {.cause = Cause::refreshed};
    case PendingActionKind::retry:
      return {.cause = end_of(items).value_or(Cause::retried)};
    case PendingActionKind::cloud_account_changed:
      return {.cause = end_of(items).value_or(Cause::cloud_account_changed)};
    case PendingActionKind::review:
      // An order that is too large has no items to conclude from.
      if (pending.reviews.has(ReviewReason::too_large)) return {.cause = review_cause(pending.reviews)};
      if (done(items)) return {.cause = Cause::nothing_left_owed};
      if (items.dropped > 0) return {.cause = end_of(items).value_or(review_cause(pending.reviews))};
      return {.cause = review_cause(pending.reviews)};
    case PendingActionKind::reopen:
      return {.cause = Cause::reopened};
    case PendingActionKind::invalidate:
      return {.cause = Cause::invalidated_by_merchant};
    case PendingActionKind::stop:
      // As conclude_stop() has it for a delivery in review.
      if (pending.stops_a_reopening() && items.shared > 0)
        return {.cause = Cause::reopened, .drop_owed = true};
      break;
    case PendingActionKind::erase:
      break;
  }
  Verdict verdict =
      stop_with(pending.kind == PendingActionKind::stop ? Cause::stopped_by_order : Cause::erased, items);
  // A job has to let go of the delivery, even while a share is still unknown.
  if (!verdict.cause) verdict.cause = Cause::refreshed;
  return verdict;
}

Verdict conclude_items(DeliveryStatus status, const ItemTally& items) {
  switch (status) {
    case DeliveryStatus::queued:
    case DeliveryStatus::waiting_for_friendship:
    case DeliveryStatus::failed:
      if (done(items)) return {.cause = Cause::nothing_left_owed};
      [[fallthrough]];
    case DeliveryStatus::in_review:
      // Without any item at all (an order too large to be read) there is nothing to conclude from.
      if (settled(items) && items.shared == 0 && items.dropped > 0)
        return {.cause = Cause::nothing_to_deliver};
      return {};
    case DeliveryStatus::completed:
      if (items.owed > 0) return {.cause = Cause::new_items_owed};
      return {};
    case DeliveryStatus::processing:
    case DeliveryStatus::invalidated:
      return {};
  }
  return {};
}

Verdict conclude_stop(DeliveryStatus status, const ItemTally& items) {
  switch (status) {
    case DeliveryStatus::queued:
    case DeliveryStatus::waiting_for_friendship:
    case DeliveryStatus::failed:
      return stop_with(Cause::stopped_by_order, items);
    case DeliveryStatus::in_review:
      if (items.shared == 0) return {.cause = Cause::stopped_by_order};
      return {.drop_owed = true};
    case DeliveryStatus::processing:
    case DeliveryStatus::completed:
    case DeliveryStatus::invalidated:
      return {};
  }
  return {};
}

ItemStatus after_absent_share(PendingActionKind pending) {
  return pending == PendingActionKind::stop || pending == PendingActionKind::erase ? ItemStatus::dropped
                                                                                   : ItemStatus::owed;
}

}  // namespace presetbridge::domain
