// Payloads of provider_b, the plugin platform: orders and deletions (spec 2.8-2.11).
#pragma once

#include "providers/parse.h"

namespace presetbridge::providers::provider_b {

Expected<domain::OrderEvent> read(const ParseInput& input);

}  // namespace presetbridge::providers::provider_b
