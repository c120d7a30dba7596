#include "domain/delivery.h"

#include <algorithm>
#include <utility>

#include "domain/names.h"

namespace presetbridge::domain {

PendingAction combine(const PendingAction& current, const PendingAction& next) {
  // A merchant who reopens takes back the invalidation, or the order's stop; else the stronger action stays.
  const bool taken_back =
      next.kind == PendingActionKind::reopen &&
      (current.kind == PendingActionKind::invalidate || current.kind == PendingActionKind::stop);
  PendingAction result = next.kind >= current.kind || taken_back ? next : current;
  // A corrected name is wanted whatever else is: what stops the delivery now may be reopened later.
  result.name = next.name.username.empty() ? current.name : next.name;
  result.reviews = current.reviews;
  result.reviews.add(next.reviews);
  const bool reopens = current.kind == PendingActionKind::reopen || current.stops_a_reopening();
  if (reopens && result.kind == PendingActionKind::stop) {
    result.reviews.add(ReviewReason::reopened);
    result.actor = current.actor;
  }
  return result;
}

PendingAction pending_review(const ReviewReasons& reasons) {
  return {.kind = PendingActionKind::review, .reason = {}, .actor = Actor::order(), .reviews = reasons};
}

PendingAction without_stop(PendingAction pending, const ReviewReasons& settled) {
  const bool reopens = pending.stops_a_reopening();
  const bool was_review = pending.kind == PendingActionKind::review;
  const bool was_stop = pending.kind == PendingActionKind::stop;
  pending.reviews.remove(settled);
  if (!was_review && !was_stop) return pending;
  PendingAction left{.name = std::move(pending.name)};
  // A merchant gives a name by a retry.
  if (!left.name.username.empty()) {
    const bool stores = left.name.actor == Actor::order();
    left.kind = stores ? PendingActionKind::refresh : PendingActionKind::retry;
    left.actor = left.name.actor;
  }
  if (reopens) {
    return combine(left, {.kind = PendingActionKind::reopen,
                          .reason = {},
                          .actor = pending.actor,
                          .reviews = pending.reviews});
  }
  return pending.reviews.none() ? left : combine(left, pending_review(pending.reviews));
}

std::optional<ReviewReason> ReviewReasons::gravest() const {
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    if (bits_.test(i)) return static_cast<ReviewReason>(i);
  }
  return std::nullopt;
}

std::string to_string(const ReviewReasons& reasons) {
  std::string text;
  for (std::size_t i = 0; i < kReviewReasonNames.size(); ++i) {
    if (!reasons.has(static_cast<ReviewReason>(i))) continue;
    if (!text.empty()) text += ',';
    text += kReviewReasonNames[i];
  }
  return text;
}

std::optional<ReviewReason> parse_review_reason(std::string_view text) {
  return parse_name<ReviewReason>(kReviewReasonNames, text);
}

std::optional<ReviewReasons> parse_review_reasons(std::string_view text) {
  ReviewReasons reasons;
  for (std::string_view rest = text; !rest.empty();) {
    const auto name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto reason = parse_review_reason(name);
    if (!reason) return std::nullopt;
    reasons.add(*reason);
  }
  if (to_string(reasons) != text) return std::nullopt;
  return reasons;
}

std::string to_string(const Actor& actor) {
  switch (actor.kind) {
    case Actor::Kind::system:
      return "system";
    case Actor::Kind::order:
      return "order";
    case Actor::Kind::user:
      return to_string(UserId{actor.id});
    case Actor::Kind::api_key:
      return to_string(ApiKeyId{actor.id});
    case Actor::Kind::buyer:
      return "buyer";
  }
  return {};
}

std::optional<Actor> parse_actor(std::string_view text) {
  if (text == "system") return Actor::system();
  if (text == "order") return Actor::order();
  if (text == "buyer") return Actor::buyer();
  if (const auto user = parse_id<UserKind>(text)) return Actor::user(*user);
  if (const auto key = parse_id<ApiKeyKind>(text)) return Actor::api_key(*key);
  return std::nullopt;
}

std::optional<DeliveryStatus> parse_delivery_status(std::string_view text) {
  return parse_name<DeliveryStatus>(kDeliveryStatusNames, text);
}
std::optional<ItemStatus> parse_item_status(std::string_view text) {
  return parse_name<ItemStatus>(kItemStatusNames, text);
}
std::optional<ResolutionCode> parse_resolution_code(std::string_view text) {
  return parse_name<ResolutionCode>(kResolutionCodeNames, text);
}
std::optional<EventType> parse_event_type(std::string_view text) {
  return parse_name<EventType>(kEventTypeNames, text);
}
std::optional<InvalidatedBy> parse_invalidated_by(std::string_view text) {
  return parse_name<InvalidatedBy>(kInvalidatedByNames, text);
}
std::optional<PendingActionKind> parse_pending_action_kind(std::string_view text) {
  return parse_name<PendingActionKind>(kPendingActionKindNames, text);
}

}  // namespace presetbridge::domain
