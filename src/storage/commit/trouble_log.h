// What a log says of trouble that lasts: a line when it begins, one when it is over, and at most one a minute
// between, however often and by whomever the storage is tried meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace presetbridge::storage {

// Thread-safe.
class TroubleLog {
 public:
  static constexpr Millis kEvery{60'000};
  // Over is what has worked and not failed for so long: trouble that comes and goes is one trouble.
  static constexpr Millis kCalm{10'000};

  // `what` is in trouble: a literal. Both outlive this. Without a clock there are no lines between, and the
  // first success ends it.
  TroubleLog(Log& log, const Clock* clock, std::string_view what) : log_(log), clock_(clock), what_(what) {}

  void failed(std::string_view cause);
  // Cheap as long as nothing has failed.
  void worked();
  bool failing() const { return failing_; }
  // It is in trouble, and nothing has failed for so long that worked() would end it.
  bool calm() const;

 private:
  Timestamp now() const { return clock_ != nullptr ? clock_->now() : Timestamp{}; }

  Log& log_;
  const Clock* const clock_;
  const std::string_view what_;
  std::atomic<bool> failing_ = false;
  mutable std::mutex mutex_;  // guards all below
  Timestamp since_;
  Timestamp last_failure_;
  Timestamp last_line_;
  std::int64_t failures_ = 0;
};

}  // namespace presetbridge::storage
