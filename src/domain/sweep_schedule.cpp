#include "domain/sweep_schedule.h"

#include <array>

namespace presetbridge::domain {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Millis kBusyInterval = minutes(5);
constexpr Millis kFullSweepInterval = hours(24);

struct Tier {
  Millis younger_than;  // age of the newest request at the sweep
  Millis interval;
};
constexpr std::array<Tier, 3> kTiers = {Tier{minutes(10), minutes(1)}, Tier{hours(1), minutes(5)},
                                        Tier{hours(24), minutes(15)}};
constexpr Millis kLongestInterval = hours(1);

}  // namespace

std::optional<Timestamp> next_sweep(const SweepState& state) {
  if (!state.awaited) return std::nullopt;
  if (!state.last_sweep_at) return state.newest_request_at;
  const Timestamp last = *state.last_sweep_at;
  if (!state.newest_request_at) return last + kLongestInterval;
  if (state.queued > kBusyQueue) return last + kBusyInterval;
  // Takes the interval of the first tier whose next sweep still falls within the tier's age.
  for (const Tier& tier : kTiers) {
    if (last + tier.interval - *state.newest_request_at < tier.younger_than) return last + tier.interval;
  }
  return last + kLongestInterval;
}

bool full_sweep_due(const SweepState& state, Timestamp now) {
  return !state.last_full_sweep_at || now - *state.last_full_sweep_at >= kFullSweepInterval;
}

}  // namespace presetbridge::domain
