// What is to be done every so often, by a loop that is woken more often than that.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace presetbridge {

class Recurring {
 public:
  explicit Recurring(Millis every) : every_(every) {}

  // Whether it is due at `now`, as it is the first time; if so, it is next due after `every`. A clock that
  // was set back makes it due too.
  bool take(Timestamp now) {
    if (now < next_ && next_ <= now + every_) return false;
    next_ = now + every_;
    return true;
  }
  // It is due at once.
  void hasten() { next_ = {}; }
  // Until it is due.
  Millis left(Timestamp now) const { return std::clamp(next_ - now, Millis{0}, every_); }

 private:
  const Millis every_;
  Timestamp next_{};
};

}  // namespace presetbridge
