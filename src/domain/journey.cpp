#include "domain/journey.h"

#include <algorithm>
#include <utility>

#include "domain/delivery_machine.h"

namespace presetbridge::domain {
namespace {

// The step at which a failure with this code stopped, where that does not follow from what was done.
Step stopped_at(ResolutionCode code, Step next) {
  switch (code) {
    case ResolutionCode::username_missing:
    case ResolutionCode::username_not_found:
      return Step::buyer_found;
    case ResolutionCode::blocked_by_customer:
      return Step::friend_request;
    case ResolutionCode::friend_request_declined:
    case ResolutionCode::friendship_timeout:
      return Step::accepted;
    case ResolutionCode::preset_not_found:
    case ResolutionCode::preset_not_shareable:
      return Step::shared;
    default:
      return next;
  }
}

}  // namespace

std::array<StepState, 5> journey(const JourneyFacts& f) {
  using enum DeliveryStatus;
  const bool shared = f.status == completed;
  const std::array<bool, 5> done{true, f.found || f.requested || f.friends, f.requested || f.friends,
                                 f.friends, shared};
  auto next = Step::shared;
  for (std::size_t i = done.size(); i-- > 0;) {
    if (!done[i]) next = static_cast<Step>(i);
  }
  const bool ended = f.status == failed || f.status == in_review || f.status == invalidated;
  if (f.status == failed) next = stopped_at(f.code, next);
  std::array<StepState, 5> states{};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto step = static_cast<Step>(i);
    if (shared) {
      states[i] = done[i] ? StepState::done : StepState::skipped;
    } else if (step == next) {
      states[i] = ended ? StepState::stopped : StepState::current;
    } else {
      states[i] = step < next ? StepState::done : StepState::ahead;
    }
  }
  return states;
}

std::vector<MerchantAction> allowed_actions(DeliveryStatus status, bool nothing_to_serve, bool revocable) {
  using enum MerchantAction;
  static constexpr std::array<std::pair<MerchantAction, Cause>, 5> asked{
      {{retry, Cause::retried},
       {approve, Cause::approved},
       {complete, Cause::completed_by_hand},
       {reopen, Cause::reopened},
       {invalidate, Cause::invalidated_by_merchant}}};
  std::vector<MerchantAction> allowed;
  for (const auto& [action, cause] : asked) {
    if (step(status, cause) && !(action == approve && nothing_to_serve)) allowed.push_back(action);
  }
  // A name is corrected as long as the delivery has an end before it (spec 3.11).
  if (status != DeliveryStatus::completed && status != DeliveryStatus::invalidated)
    allowed.push_back(change_username);
  if (revocable) allowed.push_back(revoke);
  std::ranges::sort(allowed);
  return allowed;
}

std::string_view remedy_of(ResolutionCode code) {
  switch (code) {
    case ResolutionCode::none:
      return "";
    case ResolutionCode::username_missing:
    case ResolutionCode::username_not_found:
      return "change_username";
    case ResolutionCode::friend_request_declined:
    case ResolutionCode::friendship_timeout:
    case ResolutionCode::blocked_by_customer:
    case ResolutionCode::preset_not_shareable:
    case ResolutionCode::cloud_rejected:
    case ResolutionCode::internal_error:
      return "retry";
    case ResolutionCode::credentials_missing:
    case ResolutionCode::credentials_invalid:
      return "save_credentials";
    case ResolutionCode::preset_not_found:
      return "save_mapping";
    case ResolutionCode::insufficient_credits:
      return "add_credits";
    case ResolutionCode::cloud_unavailable:
      return "wait";
    case ResolutionCode::order_too_large:
      return "complete";
  }
  return "";
}

}  // namespace presetbridge::domain
