#include "domain/retry_schedule.h"

#include <algorithm>

namespace presetbridge::domain {

Millis retry_delay(int failures, std::uint64_t draw) {
  const int doublings = std::clamp(failures, 1, 7);  // 30 s * 2^7 is past the ceiling
  const Millis top = std::min(kRetryCeiling, kRetryFloor * (1 << doublings));
  const auto span = static_cast<std::uint64_t>((top - kRetryFloor).count()) + 1;
  return kRetryFloor + Millis(static_cast<std::int64_t>(draw % span));
}

std::optional<Timestamp> next_retry(Timestamp first_failure, int failures, Timestamp now,
                                    std::uint64_t draw) {
  if (now - first_failure >= kRetryLimit) return std::nullopt;
  return now + retry_delay(failures, draw);
}

}  // namespace presetbridge::domain
