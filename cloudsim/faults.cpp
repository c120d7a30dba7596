#include "faults.h"

#include <algorithm>
#include <array>

namespace presetbridge::cloudsim {
namespace {

constexpr std::array<std::string_view, endpoints> endpoint_names{"login",
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
  return endpoint_names[static_cast<std::size_t>(endpoint)];
}
std::optional<Endpoint> endpoint_named(std::string_view name) {
  const auto* found = std::ranges::find(endpoint_names, name);
  if (found == endpoint_names.end()) return std::nullopt;
  return static_cast<Endpoint>(found - endpoint_names.begin());
}

}  // namespace presetbridge::cloudsim
