// Payloads of provider_a, the hosted platform: orders, refunds, risk assessments and privacy requests
// (spec 2.8-2.11).
#pragma once

#include "providers/parse.h"

namespace presetbridge::providers::provider_a {

Expected<domain::OrderEvent> read(const ParseInput& input);

}  // namespace presetbridge::providers::provider_a
