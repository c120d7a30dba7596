#include "providers/parse.h"

#include <fmt/format.h>

namespace presetbridge::providers {

Expected<domain::OrderEvent> parse(const Profile& profile, const ParseInput& input) {
  if (input.body.size() > input.limits.body_bytes) {
    return fail("PAYLOAD_TOO_LARGE",
                fmt::format("The payload is larger than {} bytes.", input.limits.body_bytes));
  }
  return profile.read(input);
}

}  // namespace presetbridge::providers
