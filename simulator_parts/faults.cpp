#include "simulator_parts/faults.h"

#include <algorithm>
#include <string>

namespace presetbridge::simulator_parts {
namespace {

constexpr std::array<std::string_view, kFaults> kFaultNames{
    "none",        "too_many_requests", "server_error", "server_error_after",
    "drop_before", "drop_after",        "malformed",    "wrong",
    "refused",     "repeated"};

constexpr std::int64_t kLongestRetryAfterS = 1'000'000;

}  // namespace

std::string_view to_string(Fault fault) {
  return kFaultNames[static_cast<std::size_t>(fault)];
}

std::optional<Fault> fault_named(std::string_view name) {
  const auto* found = std::ranges::find(kFaultNames, name);
  if (found == kFaultNames.end()) return std::nullopt;
  return static_cast<Fault>(found - kFaultNames.begin());
}

FaultRates fault_rates_of(const JsonFields& in) {
  FaultRates rates;
  double sum = 0;
  for (std::size_t i = 1; i < kFaults; ++i) {
    sum += rates.probability[i] = in.probability(to_string(static_cast<Fault>(i)));
  }
  if (sum > 1) throw Problem(400, "The probabilities add up to more than 1.");
  rates.latency_min = in.millis("latencyMinMs");
  rates.latency_max = std::max(rates.latency_min, in.millis("latencyMaxMs"));
  rates.retry_after_s = static_cast<int>(in.number_or("retryAfterS", 1, kLongestRetryAfterS));
  return rates;
}

std::vector<FaultStep> fault_steps_of(const JsonFields& in) {
  std::vector<FaultStep> steps;
  in.each("steps", [&](const JsonFields& one) {
    const auto fault = fault_named(one.text_or("fault", "none"));
    if (!fault) throw Problem(400, "fault: the name of a fault is wanted.");
    steps.push_back({*fault, one.millis("latencyMs"), one.millis("answerLatencyMs"),
                     static_cast<int>(one.number_or("retryAfterS", 1, kLongestRetryAfterS))});
  });
  return steps;
}

// splitmix64's finaliser.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

double fraction(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) / static_cast<double>(1ULL << 53);
}

FaultStep draw(const FaultRates& rates, std::uint64_t stream, std::uint64_t number) {
  FaultStep step;
  step.retry_after_s = rates.retry_after_s;
  const std::uint64_t bits = mix(mix(stream) ^ number);
  double left = fraction(bits);
  for (std::size_t i = 1; i < kFaults; ++i) {
    left -= rates.probability[i];
    if (left < 0) {
      step.fault = static_cast<Fault>(i);
      break;
    }
  }
  const auto spread =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, (rates.latency_max - rates.latency_min).count()));
  step.latency = rates.latency_min + Millis{static_cast<std::int64_t>(mix(bits) % (spread + 1))};
  return step;
}

}  // namespace presetbridge::simulator_parts
