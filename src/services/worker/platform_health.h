// Whether the cloud platform answers at all, as the calls of this process show it: what goes away for one
// merchant is trouble of a cloud account (account_trouble.h), what goes away for all is said once
// (spec 12.3).
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"

namespace presetbridge::services {

// Used on one thread.
class PlatformHealth {
 public:
  // Away is a platform that left so many calls without an answer, in a row and over so long: single lost
  // answers among good ones are none of it.
  static constexpr int kCalls = 3;
  static constexpr Millis kFor{10'000};

  // All outlive this.
  PlatformHealth(const Clock& clock, Log& log, Metrics& metrics)
      : clock_(clock), log_(log), metrics_(metrics) {}

  // Any answer of the platform, a refusal too.
  void answered();
  // No connection, no answer in time, or one that says that it cannot serve.
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
