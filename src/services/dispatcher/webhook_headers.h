// The headers of outbound webhooks that no secret has a part in (spec 10.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace presetbridge::services {

// In the order in which they are sent; the signatures follow. `at`: when the attempt began; nothing: none
// did, and its timestamp is left out.
std::vector<std::pair<std::string, std::string>> webhook_headers(std::string_view type, std::string_view uuid,
                                                                 std::optional<Timestamp> at);

}  // namespace presetbridge::services
