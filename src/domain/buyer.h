// The buyer's view of a delivery, and the actions that the buyer may take (spec 13.3). It never holds the
// reason for a delay on the merchant's side.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "domain/delivery.h"

namespace presetbridge::domain {

enum class BuyerState {
  on_its_way,
  username_missing,
  username_not_found,
  accept_request,  // the friend request waits for the buyer
  declined,
  no_answer,
  blocked,
  delivered,
  delayed,  // by something that is the merchant's to mend
  closed
};
inline constexpr std::array<std::string_view, 10> kBuyerStateNames = {
    "on_its_way", "username_missing", "username_not_found", "accept_request", "declined",
    "no_answer",  "blocked",          "delivered",          "delayed",        "closed"};
constexpr std::string_view to_string(BuyerState s) {
  return kBuyerStateNames[static_cast<std::size_t>(s)];
}

BuyerState buyer_state(DeliveryStatus status, ResolutionCode code);

// How often one delivery's buyer may name a user of the platform, and have it tried again; and how long after
// the one the next may follow.
inline constexpr std::int64_t kBuyerCorrections = 5;
inline constexpr std::int64_t kBuyerRetries = 3;
inline constexpr Millis kBuyerPause = std::chrono::minutes{1};

struct BuyerActs {
  std::int64_t corrections = 0;
  std::int64_t retries = 0;
  std::optional<Timestamp> acted_at;  // the last time; nothing: never
};

// Whether the buyer may name another user: nothing is shared, it would help, and it was not done too often.
bool may_correct(BuyerState state, bool anything_shared, const BuyerActs& acts);
// Whether the buyer may have the same tried again.
bool may_retry(BuyerState state, const BuyerActs& acts);
// How long until the buyer may act again; 0: now.
Millis buyer_wait(const BuyerActs& acts, Timestamp now);

}  // namespace presetbridge::domain
