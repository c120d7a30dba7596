// What goes wrong at the simulated platform, and when: scripted for the next calls of an endpoint, or drawn
// with given probabilities from a seed. The n-th call of an endpoint draws the same whatever the other
// endpoints see.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/time.h"

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
inline constexpr std::size_t endpoints = 10;
std::string_view to_string(Endpoint endpoint);  // the contract's operationId
std::optional<Endpoint> endpoint_named(std::string_view name);

enum class Fault {
  none,
  too_many_requests,   // 429, no effect
  server_error,        // 503, no effect
  server_error_after,  // 500 after the effect
  drop_before,         // the connection closes, no effect
  drop_after,          // the effect happens, the answer is lost
  malformed,           // the effect happens, the answer is broken JSON
  wrong,               // the effect happens, the answer is JSON of another shape
  refused,             // 422 with a reason that the contract does not name, no effect
};
inline constexpr std::size_t faults = 9;
std::string_view to_string(Fault fault);
std::optional<Fault> fault_named(std::string_view name);

struct FaultStep {
  Fault fault = Fault::none;
  Millis latency{0};         // before the effect
  Millis answer_latency{0};  // after it
  int retry_after_s = 1;     // of too_many_requests
};

struct FaultRates {
  std::array<double, faults> probability{};  // by Fault; `none` is what is left
  Millis latency_min{0};
  Millis latency_max{0};
  int retry_after_s = 1;
};

class FaultPlan {
 public:
  explicit FaultPlan(std::uint64_t seed) : seed_(seed) {}

  void set(Endpoint endpoint, const FaultRates& rates) { of(endpoint).rates = rates; }
  void script(Endpoint endpoint, const FaultStep& step) { of(endpoint).script.push_back(step); }
  void clear();
  // What happens to the next call of `endpoint`.
  FaultStep next(Endpoint endpoint);

 private:
  struct State {
    FaultRates rates;
    std::deque<FaultStep> script;
    std::uint64_t calls = 0;
  };
  State& of(Endpoint endpoint) { return states_[static_cast<std::size_t>(endpoint)]; }

  const std::uint64_t seed_;
  std::array<State, endpoints> states_;
};

}  // namespace presetbridge::cloudsim
