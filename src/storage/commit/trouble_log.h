// Logs trouble that lasts: a line when it begins, one when it is over, and at most one a minute between, however
// many callers fail meanwhile.
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
  // Trouble is over when something has worked and nothing has failed for so long: failures with successes between
  // them are one trouble.
  static constexpr Millis kCalm{10'000};

  // `what` is the part of the storage that is in trouble, a literal. `log` and `clock` outlive this. Without a clock
  // there are no lines between, and the first success ends the trouble.
  TroubleLog(Log& log, const Clock* clock, std::string_view what) : log_(log), clock_(clock), what_(what) {}

  void failed(std::string_view cause);
  // Cheap as long as nothing has failed.
  void worked();
  bool failing() const { return failing_; }
  // Whether there is trouble, and nothing has failed for so long that worked() would end it.
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
