// What is to be done every so often, by a loop that is woken more often than that.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace presetbridge {

class Recurring {
 public:
  // See done() for `longest`.
  explicit Recurring(Millis every, Millis longest = Millis{60'000})
      : every_(every), longest_(std::max(every, longest)), pause_(every) {}

  // Whether it is due at `now`, as it is the first time; if so, it is next due after `every`. A clock that
  // was set back makes it due too.
  bool take(Timestamp now) {
    if (now < next_ && next_ <= now + pause_) return false;
    taken_ = now;
    wait(every_);
    return true;
  }
  // What was taken last is done, and took so long, without what it waited for: the longer, the later it is
  // due again, so that it takes a fiftieth of the time. After `longest` it is due however long it takes.
  void done(Millis took) { wait(std::clamp(took * 50, every_, longest_)); }
  // It is due at once.
  void hasten() { next_ = {}; }
  // Until it is due.
  Millis left(Timestamp now) const { return std::clamp(next_ - now, Millis{0}, pause_); }

 private:
  void wait(Millis pause) {
    pause_ = pause;
    next_ = taken_ + pause;
  }

  const Millis every_;
  const Millis longest_;
  Millis pause_;
  Timestamp taken_{};
  Timestamp next_{};
};

}  // namespace presetbridge
