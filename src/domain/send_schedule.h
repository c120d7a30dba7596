// The meaning of a delivery attempt's outcome, and the time of the next one (spec 10.4).
#pragma once

#include <optional>

#include "base/time.h"

namespace presetbridge::domain {

enum class SendVerdict {
  success,
  retry,      // at next_send(), if that returns a time
  permanent,  // never again
  gone,       // permanent, and the subscription is deactivated (410)
};

enum class SendFailure {
  none,       // an answer came: its status decides
  transport,  // connect failure, TLS failure, timeout, broken answer
  denied,     // the address guard refused the target: no retry can help
};

// `http_status` counts only with SendFailure::none; one outside 200..599 is a broken answer.
SendVerdict classify_send(SendFailure failure, int http_status);

inline constexpr int kMaxSends = 7;  // the first and six retries

// The time of the next attempt after `attempts` (from 1), the last of which ended at `previous`; nothing if
// none is left.
std::optional<Timestamp> next_send(int attempts, Timestamp previous);

}  // namespace presetbridge::domain
