// When a delivery that met a transient failure is tried again (spec 3.5).
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace presetbridge::domain {

inline constexpr Millis kRetryFloor = std::chrono::seconds(30);
inline constexpr Millis kRetryCeiling = std::chrono::hours(1);
inline constexpr Millis kRetryLimit = std::chrono::hours(72);
// Until a call that was not made for lack of a place for its login is made again.
inline constexpr Millis kWhileBusy = kRetryFloor;

// The delay after the `failures`-th failure in a row (from 1): uniform between 30 s and min(1 h, 30 s *
// 2^failures). `draw` is 64 random bits.
Millis retry_delay(int failures, std::uint64_t draw);

// The time of the next try, or nothing when the first failure of the row lies 72 h back: then
// cloud_unavailable.
std::optional<Timestamp> next_retry(Timestamp first_failure, int failures, Timestamp now, std::uint64_t draw);

}  // namespace presetbridge::domain
