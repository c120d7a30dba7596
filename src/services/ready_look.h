// Where a look for what is ready begins. What has been ready for long was given out, and all that a look
// would meet there are the dead versions of rows: PostgreSQL keeps them in the index for as long as an old
// snapshot (a backup, a forgotten session) could ask for them, and each look would go through all of them. A
// look at everything, once in a while and beside the others, finds what was committed late.
#pragma once

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/recurring.h"
#include "base/time.h"

namespace presetbridge::services {

class ReadyLook {
 public:
  // How long after the time in it a row may be committed, and still be found at once: longer than PostgreSQL
  // lets two transactions wait for each other before it ends one (a second).
  static constexpr Millis late{1'500};

  // Everything is looked at `every` so often, or less often where that takes long (base/recurring.h).
  explicit ReadyLook(Millis every) : everything_(every) {}

  // Where a look begins; Timestamp{}: at everything, as the first one does.
  Timestamp begin() const { return first_ ? *first_ - late : Timestamp{}; }
  // What is ready first, as a look that began there saw it by the database's clock `at`.
  void saw(Timestamp begin, std::optional<Timestamp> first, Timestamp at) {
    // It did not see what a look at everything has found meanwhile.
    if (begin <= this->begin()) first_ = std::min(first.value_or(at), at);
  }

  // Whether it is time to look at everything.
  bool take_everything(Timestamp now) { return everything_.take(now); }
  // What is ready first, as a look at everything beside the others saw it (or failed to), that took so long.
  // Returns whether they may have missed it; they will begin there.
  bool saw_everything(const Expected<std::optional<Timestamp>>& first, Millis took) {
    everything_.done(took);
    if (!first || !*first || **first >= begin()) return false;
    first_ = *first;
    return true;
  }
  // The next looks are at everything, until one has come to its end.
  void begin_anew() { first_.reset(); }
  // Until it is time to look at everything.
  Millis left(Timestamp now) const { return everything_.left(now); }

 private:
  Recurring everything_;
  std::optional<Timestamp> first_;
};

}  // namespace presetbridge::services
