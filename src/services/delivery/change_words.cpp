#include "services/delivery/change_words.h"

#include "domain/resolution.h"

namespace presetbridge::services {

using domain::Cause;
using domain::DeliveryStatus;
using domain::ResolutionCode;
using domain::TimelineType;

std::string usual_message(const domain::Transition& t, const Change& change) {
  const bool too_large = t.review_reason() == domain::ReviewReason::too_large;
  return usual_message(t.cause, too_large ? ResolutionCode::order_too_large : change.code);
}

std::string usual_message(Cause cause, ResolutionCode code) {
  if (code != ResolutionCode::none) return std::string(domain::describe(code).what_happened);
  switch (cause) {
    case Cause::order_accepted:
      return "The order is queued for delivery.";
    case Cause::order_held:
      return "The order is held for review.";
    case Cause::leased:
    case Cause::leased_after_acceptance:
      return "The delivery is being worked on.";
    case Cause::request_sent:
      return "A friend request was sent; the customer has to accept it.";
    case Cause::still_waiting:
      return "The customer has not accepted the friend request yet.";
    case Cause::nothing_left_owed:
      return "All files were shared with the customer.";
    case Cause::completed_by_hand:
      return "The merchant marked the order as delivered by hand.";
    case Cause::transient_failure:
      return "The cloud platform could not be reached; the delivery is tried again.";
    case Cause::account_trouble:
      return "The cloud platform or the merchant's account is in trouble; the delivery goes on when that has "
             "passed.";
    case Cause::lease_expired:
    case Cause::shutdown:
      return "The worker stopped; the delivery is taken up again.";
    case Cause::refreshed:
    case Cause::new_items_owed:
      return "The order changed; the delivery goes on with what it owes now.";
    case Cause::username_changed:
      return "The customer's username was changed.";
    case Cause::cloud_account_changed:
      return "The merchant's cloud account was changed.";
    case Cause::cause_fixed:
      return "The cause of the failure was fixed; the delivery goes on.";
    case Cause::stopped_by_order:
      return "The order was cancelled or refunded.";
    case Cause::nothing_to_deliver:
      return "Nothing of the order is left to deliver.";
    case Cause::customer_changed:
      return "The store sent another username; the files are owed to that customer.";
    case Cause::held:
      return "The order changed; it is held for review.";
    case Cause::payment_returned:
      return "The order was paid again; the delivery goes on.";
    case Cause::paid_again:
      return "The order was paid again.";
    case Cause::payment_withdrawn:
      return "The order is no longer paid; it waits for a review.";
    case Cause::high_risk:
      return "The store reports a high risk for this order; it waits for a review.";
    case Cause::erased:
      return "The customer's data was erased.";
    case Cause::invalidated_by_merchant:
      return "The merchant invalidated the delivery.";
    case Cause::reopened:
      return "The merchant reopened the order for review.";
    case Cause::retried:
      return "The merchant asked for a new attempt.";
    case Cause::approved:
      return "The merchant approved the order.";
    case Cause::order_too_large:
    case Cause::became_too_large:
    case Cause::permanent_failure:
    case Cause::known_cause:
    case Cause::friendship_ended:
      break;
  }
  return std::string(domain::to_string(cause));
}

TimelineType type_of(const domain::Transition& t, const domain::Actor& actor) {
  using Kind = domain::Actor::Kind;
  if (actor.kind == Kind::user || actor.kind == Kind::api_key || actor.kind == Kind::buyer)
    return TimelineType::action;
  switch (t.cause) {
    case Cause::request_sent:
      return TimelineType::request_sent;
    case Cause::still_waiting:
      return TimelineType::waiting;
    case Cause::transient_failure:
    case Cause::account_trouble:
    case Cause::lease_expired:
    case Cause::shutdown:
      return TimelineType::put_off;
    default:
      break;
  }
  switch (t.to) {
    case DeliveryStatus::queued:
      return TimelineType::queued;
    case DeliveryStatus::completed:
      return TimelineType::completed;
    case DeliveryStatus::failed:
      return TimelineType::failed;
    case DeliveryStatus::in_review:
      return TimelineType::in_review;
    case DeliveryStatus::invalidated:
      return TimelineType::invalidated;
    case DeliveryStatus::processing:
    case DeliveryStatus::waiting_for_friendship:
      return TimelineType::waiting;
  }
  return TimelineType::action;
}

}  // namespace presetbridge::services
