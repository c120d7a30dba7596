#include "faults.h"

#include <algorithm>
#include <array>

namespace presetbridge::cloudsim {
namespace {

constexpr std::array<std::string_view, kEndpoints> kEndpointNames{"login",
                                                                  "findUser",
                                                                  "friendship",
                                                                  "requestFriendship",
                                                                  "withdrawFriendship",
                                                                  "listFriendshipsChanged",
                                                                  "listFiles",
                                                                  "share",
                                                                  "findShare",
                                                                  "revokeShare"};

}  // namespace

std::string_view to_string(Endpoint endpoint) {
  return kEndpointNames[static_cast<std::size_t>(endpoint)];
}
std::optional<Endpoint> endpoint_named(std::string_view name) {
  const auto* found = std::ranges::find(kEndpointNames, name);
  if (found == kEndpointNames.end()) return std::nullopt;
  return static_cast<Endpoint>(found - kEndpointNames.begin());
}

}  // namespace presetbridge::cloudsim
