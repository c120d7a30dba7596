#include "domain/send_schedule.h"

#include <array>

namespace presetbridge::domain {

SendVerdict classify_send(SendFailure failure, int http_status) {
  if (failure == SendFailure::transport) return SendVerdict::retry;
  if (failure == SendFailure::denied) return SendVerdict::permanent;
  if (http_status < 200 || http_status > 599) return SendVerdict::retry;
  if (http_status < 300) return SendVerdict::success;
  if (http_status == 410) return SendVerdict::gone;
  if (http_status == 408 || http_status == 429 || http_status >= 500) return SendVerdict::retry;
  return SendVerdict::permanent;
}

std::optional<Timestamp> next_send(int attempts, Timestamp previous) {
  using std::chrono::hours;
  using std::chrono::minutes;
  constexpr std::array<Millis, kMaxSends - 1> kDelays = {minutes(1), minutes(5), minutes(15),
                                                         hours(1),   hours(6),   hours(24)};
  if (attempts < 1 || attempts >= kMaxSends) return std::nullopt;
  return previous + kDelays[static_cast<std::size_t>(attempts - 1)];
}

}  // namespace presetbridge::domain
