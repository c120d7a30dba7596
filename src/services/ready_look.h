// Where a look for what is ready begins. What has been ready for long was given out, and all that a look
// would meet there are the dead versions of rows: PostgreSQL keeps them in the index for as long as an old
// snapshot (a backup, a forgotten session) could ask for them, and each look would go through all of them. A
// look at everything, once in a while, finds what was committed late.
#pragma once

#include <algorithm>
#include <optional>

#include "base/recurring.h"
#include "base/time.h"

namespace presetbridge::services {

class ReadyLook {
 public:
  // How long after the time in it a row may be committed, and still be found at once.
  // More than anybody waits for a lock.
  static constexpr Millis late{6'000};

  // Everything is looked at `every` so often.
  explicit ReadyLook(Millis every) : everything_(every) {}

  // Where the look at `now` begins.
  Timestamp begin(Timestamp now) {
    if (everything_.take(now)) from_ = {};
    return from_;
  }
  // What is ready first, as a look saw at `now`, by the database's clock.
  void saw(std::optional<Timestamp> first, Timestamp now) {
    from_ = std::min(first.value_or(now), now) - late;
  }

 private:
  Recurring everything_;
  Timestamp from_{};
};

}  // namespace presetbridge::services
