// An account's credits (spec 11.1, 11.3). available() >= 0 and debt >= 0 after every operation that succeeds;
// one that cannot keep that is refused and changes nothing. Amounts are whole credits.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace presetbridge::domain {

struct Balance {
  std::int64_t granted = 0;
  std::int64_t purchased = 0;
  std::int64_t reversed = 0;  // refunds and disputes, as far as they could be taken
  std::int64_t spent = 0;
  std::int64_t held = 0;
  std::int64_t debt = 0;  // the rest of the reversals: the next purchase pays it
  bool operator==(const Balance&) const = default;

  std::int64_t available() const { return granted + purchased - reversed - spent - held; }
};

// n >= 1, else INVALID_AMOUNT; a sum beyond 2^53 - 1 is refused so too.
Expected<Balance> hold(Balance b, std::int64_t n);     // INSUFFICIENT_CREDITS if n > available
Expected<Balance> release(Balance b, std::int64_t n);  // INVALID_AMOUNT if n > held
Expected<Balance> spend(Balance b, std::int64_t n);    // held -> spent; INVALID_AMOUNT if n > held
Expected<Balance> grant(Balance b, std::int64_t n);
Expected<Balance> purchase(Balance b, std::int64_t n);  // pays debt first
Expected<Balance> reverse(Balance b, std::int64_t n);   // takes from available, the rest becomes debt
Expected<Balance> undo_reversal(
    Balance b, std::int64_t n);  // a won dispute: debt first; INVALID_AMOUNT beyond what was reversed

// How many of a purchase's credits are reversed once `amount_refunded` of `amount_paid` (both in the
// currency's smallest unit, cumulative) went back: in proportion, rounded down, all at the full amount. 0 for
// nonsense (negative, nothing paid).
std::int64_t credits_reversed(std::int64_t credits, std::int64_t amount_paid, std::int64_t amount_refunded);

}  // namespace presetbridge::domain
