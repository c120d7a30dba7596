// Paces a recurring task in a loop that is woken more often than the task is due.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace presetbridge {

class Recurring {
 public:
  // See done() for `longest`.
  explicit Recurring(Millis every, Millis longest = Millis{60'000})
      : every_(every), longest_(std::max(every, longest)), pause_(every) {}

  // Whether the task is due at `now`, as it is the first time; if so, it is next due after `every`. A clock
  // that was set back makes it due too.
  bool take(Timestamp now) {
    if (now < next_ && next_ <= now + pause_) return false;
    taken_ = now;
    wait(every_);
    return true;
  }
  // Reports that the task taken last has ended; `took` is its working time without waits. It is due again 50
  // times `took` after its start, so that it uses a fiftieth of the time, but after `longest` at the latest.
  void done(Millis took) { wait(std::clamp(took * 50, every_, longest_)); }
  // Makes the task due at once.
  void hasten() { next_ = {}; }
  // The time until the task is due.
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
