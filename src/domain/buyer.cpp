#include "domain/buyer.h"

#include <algorithm>

namespace presetbridge::domain {
namespace {

BuyerState state_of_failure(ResolutionCode code) {
  switch (code) {
    case ResolutionCode::username_missing:
      return BuyerState::username_missing;
    case ResolutionCode::username_not_found:
      return BuyerState::username_not_found;
    case ResolutionCode::friend_request_declined:
      return BuyerState::declined;
    case ResolutionCode::friendship_timeout:
      return BuyerState::no_answer;
    case ResolutionCode::blocked_by_customer:
      return BuyerState::blocked;
    default:
      return BuyerState::delayed;
  }
}

}  // namespace

BuyerState buyer_state(DeliveryStatus status, ResolutionCode code) {
  switch (status) {
    case DeliveryStatus::queued:
    case DeliveryStatus::processing:
      return BuyerState::on_its_way;
    case DeliveryStatus::waiting_for_friendship:
      return BuyerState::accept_request;
    case DeliveryStatus::completed:
      return BuyerState::delivered;
    case DeliveryStatus::failed:
      return state_of_failure(code);
    case DeliveryStatus::in_review:
      return BuyerState::delayed;
    case DeliveryStatus::invalidated:
      return BuyerState::closed;
  }
  return BuyerState::delayed;
}

bool may_correct(BuyerState state, bool anything_shared, const BuyerActs& acts) {
  const bool over =
      state == BuyerState::delivered || state == BuyerState::delayed || state == BuyerState::closed;
  return !over && !anything_shared && acts.corrections < kBuyerCorrections;
}

bool may_retry(BuyerState state, const BuyerActs& acts) {
  const bool refused =
      state == BuyerState::declined || state == BuyerState::no_answer || state == BuyerState::blocked;
  return refused && acts.retries < kBuyerRetries;
}

Millis buyer_wait(const BuyerActs& acts, Timestamp now) {
  if (!acts.acted_at) return Millis{0};
  return std::clamp(*acts.acted_at + kBuyerPause - now, Millis{0}, kBuyerPause);
}

}  // namespace presetbridge::domain
