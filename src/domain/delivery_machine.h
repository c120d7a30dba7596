// The delivery state machine (spec 3.1) as one table and one pure function over it. Who calls step() writes
// the result as a compare-and-set on the row's version; nothing else changes a delivery's status.
//
// Revocation (spec 3.10) and settlement change items, never a delivery's status. New items on a delivery that
// is queued, waiting, failed or in review do not move it either, unless the store's orders are held: that is
// no transition. Nor is a further reason of a review. A cause that queues a delivery while reasons for a
// review stand makes two transitions: that one and, at once, the one to review (services/delivery/change.h).
// Correcting the username of a delivery that is queued or in review changes the name only (spec 3.11):
// approval starts the attempt.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "domain/delivery.h"

namespace presetbridge::domain {

enum class Cause {
  // A new delivery.
  order_accepted,  // deliverable
  order_held,      // the integration holds all orders
  order_too_large,
  // Work.
  leased,
  leased_after_acceptance,  // a sweep saw the friendship
  request_sent,             // a friend request went out in this job, not yet accepted
  still_waiting,            // a request sent earlier is not yet accepted
  nothing_left_owed,        // every item shared or dropped, at least one shared
  transient_failure,        // counts as a try
  account_trouble,          // the cloud account is paused: no try is consumed (spec 3.5)
  lease_expired,
  shutdown,
  refreshed,  // a pending action asked for the items to be read again
  permanent_failure,
  // Known without a job.
  known_cause,       // credentials, credits, username
  friendship_ended,  // timeout, declined, blocked
  username_changed,
  cloud_account_changed,
  cause_fixed,  // spec 3.6
  // The order.
  stopped_by_order,    // cancelled or refunded, and nothing was shared
  nothing_to_deliver,  // nothing is owed and nothing was shared
  paid_again,          // a newer paid event; only if the order itself had invalidated the delivery
  new_items_owed,
  customer_changed,  // the store named another one, and nothing is shared: all is owed to them (spec 3.11)
  held,              // what a store's event would queue, or add to, while the integration holds all orders
  became_too_large,  // by a later event
  payment_withdrawn,
  payment_returned,  // paid again, and that was all that the review was for
  high_risk,
  erased,  // spec 9.6
  // The merchant.
  invalidated_by_merchant,
  reopened,
  retried,
  approved,
  completed_by_hand,
};
std::string_view to_string(Cause cause);

// The reason of a cause that leads to review.
std::optional<ReviewReason> review_reason_of(Cause cause);
// The cause that moves an existing delivery to review for the gravest of `reasons`, which are not empty.
Cause review_cause(const ReviewReasons& reasons);

struct Transition {
  std::optional<DeliveryStatus> from;  // nothing: a new delivery
  Cause cause;
  DeliveryStatus to;
  std::optional<EventType> emits = std::nullopt;

  // The changes of the row beside the status. Every other field stays.
  bool sets_resolution() const;  // the caller supplies a code other than none
  bool clears_resolution() const;
  bool sets_completed_at() const;
  bool clears_completed_at() const;
  bool sets_reason() const;  // and InvalidatedBy, see invalidated_by()
  bool ends_lease() const;   // also clears the pending action, unless the verdict keeps it
  std::optional<ReviewReason> review_reason() const;  // where `to` is in_review
  bool restarts_waiting() const;         // for the customer's answer, from the beginning (spec 3.5)
  InvalidatedBy invalidated_by() const;  // nobody unless `to` is invalidated
  bool operator==(const Transition&) const = default;
};

// The transition that `cause` makes of a delivery in `from`, or INVALID_TRANSITION (409) naming both.
// `invalidated_by` matters in status invalidated only.
Expected<Transition> step(std::optional<DeliveryStatus> from, Cause cause,
                          InvalidatedBy invalidated_by = InvalidatedBy::nobody);

// All there are, for docs and exhaustive tests.
std::span<const Transition> transitions();

// docs/state-machine.md is made of these two.
std::string transitions_as_mermaid();
std::string transitions_as_markdown();

}  // namespace presetbridge::domain
