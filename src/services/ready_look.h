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
  // How long after the time in it a row may be committed, and still be found at once: longer than PostgreSQL
  // lets two transactions wait for each other before it ends one (a second).
  static constexpr Millis late{1'500};
  // Everything is looked at that often at least, however long it takes.
  static constexpr Millis longest{15'000};

  // Everything is looked at `every` so often, or less often where that takes long (base/recurring.h).
  explicit ReadyLook(Millis every) : everything_(every, longest) {}

  // Where the look at `now` begins; Timestamp{}: at everything.
  Timestamp begin(Timestamp now) {
    if (everything_.take(now)) first_.reset();
    return first_ ? *first_ - late : Timestamp{};
  }
  // What is ready first, as a look saw by the database's clock `at`, and how long that took.
  void saw(std::optional<Timestamp> first, Timestamp at, Millis took) {
    if (!first_) everything_.done(took);
    first_ = std::min(first.value_or(at), at);
  }

 private:
  Recurring everything_;
  std::optional<Timestamp> first_;
};

}  // namespace presetbridge::services
