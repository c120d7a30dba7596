#include "domain/delivery_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace presetbridge::domain {
namespace {

using enum DeliveryStatus;
using C = Cause;
using E = EventType;
constexpr std::nullopt_t kNew = std::nullopt;

// Causes that put a delivery back for reasons of the machinery: subscribers hear nothing of them (spec 10.1).
constexpr std::array kTable = std::to_array<Transition>({
    {kNew, C::order_accepted, queued, E::delivery_queued},
    {kNew, C::order_held, in_review},
    {kNew, C::order_too_large, in_review},
    {kNew, C::high_risk, in_review},
    {kNew, C::known_cause, failed, E::delivery_failed},

    {queued, C::leased, processing},
    {queued, C::known_cause, failed, E::delivery_failed},
    {queued, C::nothing_left_owed, completed, E::delivery_completed},
    {queued, C::stopped_by_order, invalidated, E::delivery_invalidated},
    {queued, C::nothing_to_deliver, invalidated, E::delivery_invalidated},
    {queued, C::erased, invalidated, E::delivery_invalidated},
    {queued, C::invalidated_by_merchant, invalidated, E::delivery_invalidated},
    {queued, C::held, in_review},
    {queued, C::became_too_large, in_review},
    {queued, C::payment_withdrawn, in_review},
    {queued, C::high_risk, in_review},

    {processing, C::request_sent, waiting_for_friendship, E::delivery_waiting_for_friendship},
    {processing, C::still_waiting, waiting_for_friendship},
    {processing, C::nothing_left_owed, completed, E::delivery_completed},
    {processing, C::transient_failure, queued},
    {processing, C::account_trouble, queued},
    {processing, C::lease_expired, queued},
    {processing, C::shutdown, queued},
    {processing, C::refreshed, queued},
    {processing, C::cloud_account_changed, queued},
    {processing, C::retried, queued, E::delivery_queued},
    {processing, C::permanent_failure, failed, E::delivery_failed},
    {processing, C::stopped_by_order, invalidated, E::delivery_invalidated},
    {processing, C::nothing_to_deliver, invalidated, E::delivery_invalidated},
    {processing, C::erased, invalidated, E::delivery_invalidated},
    {processing, C::invalidated_by_merchant, invalidated, E::delivery_invalidated},
    {processing, C::held, in_review},
    {processing, C::became_too_large, in_review},
    {processing, C::payment_withdrawn, in_review},
    {processing, C::high_risk, in_review},
    {processing, C::reopened, in_review, E::delivery_reopened},

    {waiting_for_friendship, C::leased_after_acceptance, processing},
    {waiting_for_friendship, C::username_changed, queued, E::delivery_queued},
    {waiting_for_friendship, C::cloud_account_changed, queued, E::delivery_queued},
    {waiting_for_friendship, C::known_cause, failed, E::delivery_failed},
    {waiting_for_friendship, C::friendship_ended, failed, E::delivery_failed},
    {waiting_for_friendship, C::nothing_left_owed, completed, E::delivery_completed},
    {waiting_for_friendship, C::completed_by_hand, completed, E::delivery_completed},
    {waiting_for_friendship, C::stopped_by_order, invalidated, E::delivery_invalidated},
    {waiting_for_friendship, C::nothing_to_deliver, invalidated, E::delivery_invalidated},
    {waiting_for_friendship, C::erased, invalidated, E::delivery_invalidated},
    {waiting_for_friendship, C::invalidated_by_merchant, invalidated, E::delivery_invalidated},
    {waiting_for_friendship, C::held, in_review},
    {waiting_for_friendship, C::became_too_large, in_review},
    {waiting_for_friendship, C::payment_withdrawn, in_review},
    {waiting_for_friendship, C::high_risk, in_review},

    {failed, C::retried, queued, E::delivery_queued},
    {failed, C::cause_fixed, queued, E::delivery_queued},
    {failed, C::nothing_left_owed, completed, E::delivery_completed},
    {failed, C::completed_by_hand, completed, E::delivery_completed},
    {failed, C::stopped_by_order, invalidated, E::delivery_invalidated},
    {failed, C::nothing_to_deliver, invalidated, E::delivery_invalidated},
    {failed, C::erased, invalidated, E::delivery_invalidated},
    {failed, C::invalidated_by_merchant, invalidated, E::delivery_invalidated},
    {failed, C::held, in_review},
    {failed, C::reopened, in_review, E::delivery_reopened},

    {in_review, C::approved, queued, E::delivery_queued},
    {in_review, C::payment_returned, queued, E::delivery_queued},
    {in_review, C::completed_by_hand, completed, E::delivery_completed},
    {in_review, C::stopped_by_order, invalidated, E::delivery_invalidated},
    {in_review, C::nothing_to_deliver, invalidated, E::delivery_invalidated},
    {in_review, C::erased, invalidated, E::delivery_invalidated},
    {in_review, C::invalidated_by_merchant, invalidated, E::delivery_invalidated},

    {completed, C::new_items_owed, queued, E::delivery_queued},
    {completed, C::customer_changed, queued, E::delivery_queued},
    {completed, C::held, in_review},
    {completed, C::invalidated_by_merchant, invalidated, E::delivery_invalidated},
    {completed, C::reopened, in_review, E::delivery_reopened},

    {invalidated, C::paid_again, queued, E::delivery_queued},
    {invalidated, C::held, in_review},
    {invalidated, C::reopened, in_review, E::delivery_reopened},
});

constexpr std::array<std::string_view, 35> kCauseNames = {
    "order_accepted",
    "order_held",
    "order_too_large",
    "leased",
    "leased_after_acceptance",
    "request_sent",
    "still_waiting",
    "nothing_left_owed",
    "transient_failure",
    "account_trouble",
    "lease_expired",
    "shutdown",
    "refreshed",
    "permanent_failure",
    "known_cause",
    "friendship_ended",
    "username_changed",
    "cloud_account_changed",
    "cause_fixed",
    "stopped_by_order",
    "nothing_to_deliver",
    "paid_again",
    "new_items_owed",
    "customer_changed",
    "held",
    "became_too_large",
    "payment_withdrawn",
    "payment_returned",
    "high_risk",
    "erased",
    "invalidated_by_merchant",
    "reopened",
    "retried",
    "approved",
    "completed_by_hand",
};
static_assert(kCauseNames.size() == static_cast<std::size_t>(C::completed_by_hand) + 1);

constexpr std::string_view name_of(std::optional<DeliveryStatus> status) {
  return status ? to_string(*status) : "new";
}

}  // namespace

std::string_view to_string(Cause cause) {
  return kCauseNames[static_cast<std::size_t>(cause)];
}

bool Transition::sets_resolution() const {
  return to == failed;
}
bool Transition::clears_resolution() const {
  return (from == failed || from == in_review) && !sets_resolution();
}
bool Transition::sets_completed_at() const {
  return to == completed;
}
bool Transition::clears_completed_at() const {
  return from == completed;
}
bool Transition::sets_reason() const {
  return to == invalidated;
}
bool Transition::ends_lease() const {
  return from == processing;
}
std::optional<ReviewReason> Transition::review_reason() const {
  return review_reason_of(cause);
}
std::optional<ReviewReason> review_reason_of(Cause cause) {
  switch (cause) {
    case C::order_held:
    case C::held:
      return ReviewReason::held;
    case C::order_too_large:
    case C::became_too_large:
      return ReviewReason::too_large;
    case C::payment_withdrawn:
      return ReviewReason::payment_withdrawn;
    case C::high_risk:
      return ReviewReason::high_risk;
    case C::reopened:
      return ReviewReason::reopened;
    default:
      return std::nullopt;
  }
}
Cause review_cause(const ReviewReasons& reasons) {
  switch (reasons.gravest().value()) {
    case ReviewReason::high_risk:
      return C::high_risk;
    case ReviewReason::payment_withdrawn:
      return C::payment_withdrawn;
    case ReviewReason::too_large:
      return C::became_too_large;
    case ReviewReason::held:
      return C::held;
    case ReviewReason::reopened:
      break;
  }
  return C::reopened;
}
bool Transition::restarts_waiting() const {
  switch (cause) {
    case C::retried:
    case C::approved:
    case C::username_changed:
    case C::customer_changed:
    case C::cloud_account_changed:
    case C::paid_again:
      return true;
    default:
      return to == completed || to == invalidated;
  }
}
InvalidatedBy Transition::invalidated_by() const {
  if (to != invalidated) return InvalidatedBy::nobody;
  return cause == C::stopped_by_order || cause == C::nothing_to_deliver ? InvalidatedBy::order
                                                                        : InvalidatedBy::merchant;
}

namespace {

// The merchant's actions, by their names in the API.
constexpr std::array kAsked = std::to_array<std::pair<Cause, std::string_view>>({
    {C::retried, "retry"},
    {C::approved, "approve"},
    {C::completed_by_hand, "complete"},
    {C::reopened, "reopen"},
    {C::invalidated_by_merchant, "invalidate"},
});

std::string refusal(std::optional<DeliveryStatus> from, Cause cause) {
  const auto asked = std::ranges::find(kAsked, cause, &decltype(kAsked)::value_type::first);
  if (asked == kAsked.end()) {
    return fmt::format("A delivery in status {} does not take the action {}.", name_of(from),
                       to_string(cause));
  }
  std::vector<std::string_view> possible;
  for (const auto& other : kAsked) {
    const auto takes = [&](const Transition& t) { return t.from == from && t.cause == other.first; };
    if (std::ranges::any_of(kTable, takes)) possible.push_back(other.second);
  }
  return fmt::format("A delivery in status {} does not take the action {}; it takes: {}.", name_of(from),
                     asked->second, possible.empty() ? "none" : fmt::format("{}", fmt::join(possible, ", ")));
}

}  // namespace

std::span<const Transition> transitions() {
  return kTable;
}

Expected<Transition> step(std::optional<DeliveryStatus> from, Cause cause, InvalidatedBy invalidated_by) {
  const auto row =
      std::ranges::find_if(kTable, [&](const Transition& t) { return t.from == from && t.cause == cause; });
  if (row == kTable.end()) {
    return fail("INVALID_TRANSITION", refusal(from, cause));
  }
  const bool by_order = cause == C::paid_again || cause == C::held;
  if (from == invalidated && by_order && invalidated_by != InvalidatedBy::order) {
    return fail(
        "INVALID_TRANSITION",
        fmt::format("A delivery in status {} that its order did not invalidate does not take the action {}.",
                    name_of(from), to_string(cause)));
  }
  return *row;
}

std::string transitions_as_mermaid() {
  // One arrow for each pair of statuses, in the table's order.
  std::vector<std::pair<std::pair<std::string_view, std::string_view>, std::string>> arrows;
  for (const Transition& t : kTable) {
    const std::pair ends{t.from ? to_string(*t.from) : "[*]", to_string(t.to)};
    auto arrow = std::ranges::find(arrows, ends, [](const auto& a) { return a.first; });
    if (arrow == arrows.end()) {
      arrows.emplace_back(ends, std::string(to_string(t.cause)));
    } else {
      arrow->second += fmt::format(", {}", to_string(t.cause));
    }
  }
  std::string out = "stateDiagram-v2\n";
  for (const auto& [ends, causes] : arrows) {
    out += fmt::format("    {} --> {}: {}\n", ends.first, ends.second, causes);
  }
  return out;
}

std::string transitions_as_markdown() {
  std::string out = "| from | cause | to | event |\n|---|---|---|---|\n";
  for (const Transition& t : kTable) {
    out += fmt::format("| {} | {} | {} | {} |\n", t.from ? fmt::format("`{}`", to_string(*t.from)) : "(new)",
                       to_string(t.cause), fmt::format("`{}`", to_string(t.to)),
                       t.emits ? fmt::format("`{}`", to_string(*t.emits)) : "");
  }
  return out;
}

}  // namespace presetbridge::domain
