// Whether the cloud platform answers at all, by the calls of this process. It is logged once when the
// platform goes away, and once when it comes back (spec 12.3). Trouble of one merchant alone is in
// account_trouble.h.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"

namespace presetbridge::services {

// Used on one thread.
class PlatformHealth {
 public:
  // The platform is away once this many calls in a row, over this time at least, have had no answer: single
  // lost answers among good ones do not count.
  static constexpr int kCalls = 3;
  static constexpr Millis kFor{10'000};

  // All outlive this.
  PlatformHealth(const Clock& clock, Log& log, Metrics& metrics)
      : clock_(clock), log_(log), metrics_(metrics) {}

  // A call had an answer, a refusal included.
  void answered();
  // A call had no connection, no answer in time, or one that says that the platform cannot serve.
  void unanswered(std::string_view error);

 private:
  const Clock& clock_;
  Log& log_;
  Metrics& metrics_;
  int unanswered_ = 0;  // since the last answer; kCalls at most
  Timestamp since_{};   // of the first of them
  bool away_ = false;
};

}  // namespace presetbridge::services
