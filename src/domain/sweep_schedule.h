// When a cloud account's friendships are swept, and how long a request is waited for (spec 3.5).
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace presetbridge::domain {

inline constexpr Millis kFriendshipTimeout = std::chrono::days(14);  // of waiting: the delivery fails
inline constexpr Millis kFriendshipResumeWindow =
    std::chrono::days(90);  // from the same time: an acceptance still resumes it
inline constexpr std::int64_t kBusyQueue = 50;

struct SweepState {
  bool awaited = false;     // a delivery waits, or failed for want of an answer that would still resume it
  std::int64_t queued = 0;  // deliveries queued on this cloud account
  std::optional<Timestamp> newest_request_at;   // or when the newest delivery began to wait
  std::optional<Timestamp> last_sweep_at;       // of either sort
  std::optional<Timestamp> last_full_sweep_at;  // from the beginning, not from the cursor
};

// When the next sweep is due (it may lie in the past: due now); nothing while nothing is awaited.
std::optional<Timestamp> next_sweep(const SweepState& state);

// Whether a sweep that starts now has to be a full one: never done, or a day ago.
bool full_sweep_due(const SweepState& state, Timestamp now);

}  // namespace presetbridge::domain
