// Which class of work a cloud account's next job serves (spec 3.4): the first non-empty class in order,
// except that a class with work is served at least once in any ten jobs.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

namespace presetbridge::domain {

enum class JobClass {
  sweep,
  share,
  settlement,
  first_request,
  retry
};  // in order; settlement: revocations too
inline constexpr std::size_t kJobClasses = 5;

using JobClassSet = std::bitset<kJobClasses>;  // bit static_cast<size_t>(JobClass)

// How many jobs in a row each class with work has been passed over. Kept in the account's row as one integer.
class JobTurns {
 public:
  // The class to serve, counted as served; nothing if none has work.
  std::optional<JobClass> choose(JobClassSet with_work);

  std::int64_t encode() const;
  static JobTurns decode(std::int64_t stored);  // any integer gives valid turns
  bool operator==(const JobTurns&) const = default;

 private:
  std::array<int, kJobClasses> passed_over_{};  // 0..9
};

}  // namespace presetbridge::domain
