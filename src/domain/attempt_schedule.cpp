#include "domain/attempt_schedule.h"

#include <array>

namespace presetbridge::domain {

AttemptVerdict classify_attempt(AttemptFailure failure, int http_status) {
  if (failure == AttemptFailure::transport) return AttemptVerdict::retry;
  if (failure == AttemptFailure::denied) return AttemptVerdict::permanent;
  if (http_status < 200 || http_status > 599) return AttemptVerdict::retry;
  if (http_status < 300) return AttemptVerdict::success;
  if (http_status == 410) return AttemptVerdict::gone;
  if (http_status == 408 || http_status == 429 || http_status >= 500) return AttemptVerdict::retry;
  return AttemptVerdict::permanent;
}

std::optional<Timestamp> next_attempt(int attempts, Timestamp previous) {
  using std::chrono::hours;
  using std::chrono::minutes;
  constexpr std::array<Millis, kMaxDeliveryAttempts - 1> kDelays = {minutes(1), minutes(5), minutes(15),
                                                                    hours(1),   hours(6),   hours(24)};
  if (attempts < 1 || attempts >= kMaxDeliveryAttempts) return std::nullopt;
  return previous + kDelays[static_cast<std::size_t>(attempts - 1)];
}

}  // namespace presetbridge::domain
