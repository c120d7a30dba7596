#include "domain/job_class.h"

#include <algorithm>

namespace presetbridge::domain {
namespace {

constexpr int kTurns = 10;  // in any so many jobs each class with work has one
constexpr int kBits = 4;    // of one class in the stored integer

}  // namespace

std::optional<JobClass> JobTurns::choose(JobClassSet with_work) {
  if (with_work.none()) return std::nullopt;
  std::array<std::size_t, kJobClasses> by_wait{};
  std::size_t count = 0;
  std::size_t chosen = kJobClasses;
  for (std::size_t c = 0; c < kJobClasses; ++c) {
    if (!with_work[c]) {
      passed_over_[c] = 0;
      continue;
    }
    if (count == 0) chosen = c;
    by_wait[count++] = c;
  }
  std::sort(by_wait.begin(), by_wait.begin() + static_cast<std::ptrdiff_t>(count),
            [&](std::size_t a, std::size_t b) {
              return passed_over_[a] != passed_over_[b] ? passed_over_[a] > passed_over_[b] : a < b;
            });
  // Earliest deadline first, but only from the point where giving the first class one more turn would make
  // some class miss its own: the i-th most passed over needs its turn within i of the turns that are left to
  // it.
  for (std::size_t i = 0; i < count; ++i) {
    if (kTurns - passed_over_[by_wait[i]] <= static_cast<int>(i) + 1) {
      chosen = by_wait[0];
      break;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    int& waited = passed_over_[by_wait[i]];
    waited = by_wait[i] == chosen ? 0 : std::min(waited + 1, kTurns - 1);
  }
  return static_cast<JobClass>(chosen);
}

std::int64_t JobTurns::encode() const {
  std::int64_t out = 0;
  for (std::size_t c = 0; c < kJobClasses; ++c) out |= std::int64_t{passed_over_[c]} << (kBits * c);
  return out;
}

JobTurns JobTurns::decode(std::int64_t stored) {
  JobTurns turns;
  for (std::size_t c = 0; c < kJobClasses; ++c) {
    turns.passed_over_[c] = std::min(static_cast<int>((stored >> (kBits * c)) & 0xf), kTurns - 1);
  }
  return turns;
}

}  // namespace presetbridge::domain
