// The meaning of a delivery attempt's outcome, and the time of the next one (spec 10.4).
#pragma once

#include <optional>

#include "base/time.h"

namespace presetbridge::domain {

enum class AttemptVerdict {
  success,
  retry,      // at next_attempt(), if that returns a time
  permanent,  // never again
  gone,       // permanent, and the subscription is deactivated (410)
};

enum class AttemptFailure {
  none,       // an answer came: its status decides
  transport,  // connect failure, TLS failure, timeout, broken answer
  denied,     // the address guard refused the target: no retry can help
};

// `http_status` counts only with AttemptFailure::none; one outside 200..599 is a broken answer.
AttemptVerdict classify_attempt(AttemptFailure failure, int http_status);

inline constexpr int kMaxDeliveryAttempts = 7;  // the first and six retries

// The time of the next attempt after `attempts` (from 1), the last of which ended at `previous`; nothing if
// none is left.
std::optional<Timestamp> next_attempt(int attempts, Timestamp previous);

}  // namespace presetbridge::domain
