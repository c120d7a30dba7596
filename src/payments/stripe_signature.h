// The signature of a Stripe webhook (spec 11.3): `Stripe-Signature: t=<Unix time>,v1=<hex>`, where each v1 is
// HMAC-SHA256 over "<t>.<body>", keyed with the endpoint's secret as it is written. While a secret is rolled
// there are several v1, and several secrets here.
#pragma once

#include <span>
#include <string_view>

#include "base/time.h"
#include "crypto/secret.h"

namespace presetbridge::payments {

enum class StripeVerdict {
  valid,
  malformed,     // no time, no v1, or a header longer than 4,096 characters
  stale,         // older than the tolerance
  in_future,     // ahead by more than the tolerance
  not_matching,  // no v1 is of one of the secrets
};

inline constexpr Millis kStripeTolerance = std::chrono::seconds{300};  // either way

// `body`: the exact bytes received. Takes a time that does not depend on the secrets.
StripeVerdict verify_stripe(std::string_view header, std::string_view body,
                            std::span<const crypto::SecretString> secrets, Timestamp now);

}  // namespace presetbridge::payments
