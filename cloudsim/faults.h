// The calls of the simulated platform, and what goes wrong at each.
#pragma once

#include <optional>
#include <string_view>

#include "simulator_parts/faults.h"

namespace presetbridge::cloudsim {

enum class Endpoint {
  login,
  find_user,
  friendship,
  request_friendship,
  withdraw_friendship,
  list_friendships,
  list_files,
  share,
  find_share,
  revoke_share,
};
inline constexpr std::size_t kEndpoints = 10;
std::string_view to_string(Endpoint endpoint);  // the contract's operationId
std::optional<Endpoint> endpoint_named(std::string_view name);

using simulator_parts::Fault;
using simulator_parts::FaultRates;
using simulator_parts::FaultStep;
using FaultPlan = simulator_parts::FaultPlan<Endpoint, kEndpoints>;

}  // namespace presetbridge::cloudsim
