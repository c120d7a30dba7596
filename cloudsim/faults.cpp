#include "faults.h"

#include <algorithm>

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

constexpr std::array<std::string_view, faults> fault_names{
    "none",        "too_many_requests", "server_error", "server_error_after",
    "drop_before", "drop_after",        "malformed",    "wrong",
    "refused"};

template <class Enum, std::size_t n>
std::optional<Enum> named(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

// splitmix64's finaliser: well mixed bits of a counter.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

std::string_view to_string(Endpoint endpoint) {
  return endpoint_names[static_cast<std::size_t>(endpoint)];
}
std::optional<Endpoint> endpoint_named(std::string_view name) {
  return named<Endpoint>(endpoint_names, name);
}
std::string_view to_string(Fault fault) {
  return fault_names[static_cast<std::size_t>(fault)];
}
std::optional<Fault> fault_named(std::string_view name) {
  return named<Fault>(fault_names, name);
}

void FaultPlan::clear() {
  for (State& state : states_) {
    state.rates = {};
    state.script.clear();
  }
}

FaultStep FaultPlan::next(Endpoint endpoint) {
  State& state = of(endpoint);
  const std::uint64_t number = state.calls++;
  if (!state.script.empty()) {
    const FaultStep step = state.script.front();
    state.script.pop_front();
    return step;
  }
  const FaultRates& rates = state.rates;
  FaultStep step;
  step.retry_after_s = rates.retry_after_s;
  const std::uint64_t draw = mix(mix(seed_ + static_cast<std::uint64_t>(endpoint)) ^ number);
  double left = static_cast<double>(draw >> 11) / static_cast<double>(1ULL << 53);
  for (std::size_t i = 1; i < faults; ++i) {
    left -= rates.probability[i];
    if (left < 0) {
      step.fault = static_cast<Fault>(i);
      break;
    }
  }
  const auto spread =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, (rates.latency_max - rates.latency_min).count()));
  step.latency = rates.latency_min + Millis{static_cast<std::int64_t>(mix(draw) % (spread + 1))};
  return step;
}

}  // namespace presetbridge::cloudsim
