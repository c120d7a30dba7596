// Where a delivery stands, for people (spec 3.7): the five steps from the order to the shared files, what a
// merchant may ask of it now, and what would solve the problem that it has.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "domain/delivery.h"
#include "domain/delivery_outcome.h"

namespace presetbridge::domain {

enum class Step { order_received, buyer_found, friend_request, accepted, shared };
inline constexpr std::array<std::string_view, 5> kStepNames = {"order_received", "buyer_found",
                                                               "friend_request", "accepted", "shared"};
// `current`: it is what the delivery does now; `stopped`: there it failed, waits for a person, or was ended;
// `skipped`: it ended otherwise before the step was needed.
enum class StepState { done, current, stopped, ahead, skipped };
inline constexpr std::array<std::string_view, 5> kStepStateNames = {"done", "current", "stopped", "ahead",
                                                                    "skipped"};

struct JourneyFacts {
  DeliveryStatus status = DeliveryStatus::queued;
  ResolutionCode code = ResolutionCode::none;
  bool found = false;      // the platform has identified the customer
  bool requested = false;  // a friend request was made
  bool friends = false;
  ItemTally items;  // of the present customer
};
std::array<StepState, 5> journey(const JourneyFacts& facts);

// The actions of the API on a delivery, by their names there. change_username: a retry with another username.
enum class MerchantAction { retry, change_username, approve, complete, reopen, invalidate, revoke };
inline constexpr std::array<std::string_view, 7> kMerchantActionNames = {
    "retry", "change_username", "approve", "complete", "reopen", "invalidate", "revoke"};

// The actions that the delivery's status allows (delivery_machine.h), in the order of the enum.
// `nothing_to_serve`: it is too large, and no file of it is known; `revocable`: a shared file can be taken
// back.
std::vector<MerchantAction> allowed_actions(DeliveryStatus status, bool nothing_to_serve, bool revocable);

// The solution of a failure: an action on the delivery (change_username, retry, complete), or one after which
// it goes on by itself (save_credentials, save_mapping, add_credits, and wait for the platform). Empty for
// `none`.
std::string_view remedy_of(ResolutionCode code);

}  // namespace presetbridge::domain
