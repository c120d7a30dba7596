// What goes wrong at a simulated service, and when: scripted for the next calls of an endpoint, or drawn with
// given probabilities from a seed. The n-th call of an endpoint draws the same whatever the other endpoints
// see.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "simulator_parts/json_fields.h"

namespace presetbridge::simulator_parts {

enum class Fault {
  none,
  too_many_requests,   // 429, no effect
  server_error,        // 503, no effect
  server_error_after,  // 500 after the effect
  drop_before,         // the connection closes, no effect
  drop_after,          // the effect happens, the answer is lost
  malformed,           // the effect happens, the answer is broken JSON
  wrong,               // the effect happens, the answer is JSON of another shape
  refused,             // a definite refusal that the contract does not name, no effect
  repeated,            // the call is carried out twice, as by a proxy that repeats it; the second is answered
};
inline constexpr std::size_t kFaults = 10;
std::string_view to_string(Fault fault);
std::optional<Fault> fault_named(std::string_view name);

struct FaultStep {
  Fault fault = Fault::none;
  Millis latency{0};         // before the effect
  Millis answer_latency{0};  // after it
  int retry_after_s = 1;     // of too_many_requests
};

struct FaultRates {
  std::array<double, kFaults> probability{};  // by Fault; `none` is what is left
  Millis latency_min{0};
  Millis latency_max{0};
  int retry_after_s = 1;
};

// The members of a request that sets faults. Throw Problem.
FaultRates fault_rates_of(const JsonFields& in);
std::vector<FaultStep> fault_steps_of(const JsonFields& in);

// Well mixed bits of a counter.
std::uint64_t mix(std::uint64_t value);
// Of mixed bits, a number from 0 to below 1.
double fraction(std::uint64_t bits);
// What the rates make of the `number`-th call of a stream of draws.
FaultStep draw(const FaultRates& rates, std::uint64_t stream, std::uint64_t number);

// `Endpoint` counts from 0 to `endpoints` - 1.
template <class Endpoint, std::size_t endpoints>
class FaultPlan {
 public:
  static constexpr std::size_t most_scripted = 10'000;  // steps of an endpoint

  explicit FaultPlan(std::uint64_t seed) : seed_(seed) {}

  void set(Endpoint endpoint, const FaultRates& rates) { of(endpoint).rates = rates; }
  // False: no room for more steps.
  bool script(Endpoint endpoint, const FaultStep& step) {
    if (of(endpoint).script.size() >= most_scripted) return false;
    of(endpoint).script.push_back(step);
    return true;
  }
  void clear() {
    for (State& state : states_) {
      state.rates = {};
      state.script.clear();
    }
  }
  // What happens to the next call of `endpoint`.
  FaultStep next(Endpoint endpoint) {
    State& state = of(endpoint);
    const std::uint64_t number = state.calls++;
    if (state.script.empty()) {
      return draw(state.rates, seed_ + static_cast<std::uint64_t>(endpoint), number);
    }
    const FaultStep step = state.script.front();
    state.script.pop_front();
    return step;
  }

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

}  // namespace presetbridge::simulator_parts
