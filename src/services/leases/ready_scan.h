// Where a scan for ready rows begins. Rows that were ready long ago have been leased, so a scan would
// meet there only dead versions of rows: PostgreSQL keeps them in the index for as long as an old snapshot
// (a backup, a forgotten session) could ask for them, and each scan would go through all of them. A full
// scan, once in a while and beside the others, finds what was committed late.
#pragma once

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/recurring.h"
#include "base/time.h"

namespace presetbridge::services {

class ReadyScan {
 public:
  // How long after the time in it a row may be committed, and still be found at once: longer than PostgreSQL
  // lets two transactions wait for each other before it ends one (a second).
  static constexpr Millis late{1'500};

  // A full scan is due `every` so often, or less often where it takes long (base/recurring.h).
  explicit ReadyScan(Millis every) : full_(every) {}

  // Where a scan begins; Timestamp{}: it is a full one, as the first is.
  Timestamp begin() const { return first_ ? *first_ - late : Timestamp{}; }
  // Likewise, where no full scans run beside: each that is due is made in place of the others, until one has
  // come to its end.
  Timestamp begin(Timestamp now) {
    if (full_.take(now)) first_.reset();
    return begin();
  }
  // Reports the first ready time that a scan from `begin` saw, by the database's clock `at`.
  void saw(Timestamp begin, std::optional<Timestamp> first, Timestamp at) {
    // It did not see what a full scan has found meanwhile.
    if (begin <= this->begin()) first_ = std::min(first.value_or(at), at);
  }

  // Whether a full scan beside the others is due.
  bool take_full(Timestamp now) { return full_.take(now); }
  // Reports the first ready time that a full scan saw, or its failure, and its duration. Returns whether the
  // others may have missed it; they will begin there.
  bool saw_full(const Expected<std::optional<Timestamp>>& first, Millis took) {
    full_.done(took);
    if (!first || !*first || **first >= begin()) return false;
    first_ = *first;
    return true;
  }
  // Until a full scan is due.
  Millis left(Timestamp now) const { return full_.left(now); }

 private:
  Recurring full_;
  std::optional<Timestamp> first_;
};

}  // namespace presetbridge::services
