// What POST /v1/checkout/sessions asks for.
#pragma once

#include "form.h"
#include "records.h"

namespace presetbridge::paysim {

// Throws StripeError.
NewSession read_session_request(FormFields& in, Timestamp now);

// Refund reasons, for POST /v1/refunds and /sim/refund.
inline constexpr std::initializer_list<std::string_view> kRefundReasons{"duplicate", "fraudulent",
                                                                        "requested_by_customer"};

}  // namespace presetbridge::paysim
