// Bounds, and docs/limits.md, which tells them: a test fails when page and figures part.
#pragma once

#include <string_view>

#include "work.h"

namespace presetbridge::worst_case {

// What a case may come to at most; stands beside the limits that make it true.
struct Bound {
  std::int64_t rows_written = 0;
  std::int64_t largest_transaction = 0;
  std::int64_t statements = 0;
  std::int64_t rows_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t bytes_read = 0;
  std::int64_t allocations = 0;
  std::int64_t branches = 0;
};

// Fails where `work` is more than `bound`, or where the page does not hold this very line:
//   | what | rows written (in one transaction) | statements | rows read | KiB written | KiB read |
// The line holds the figures of SQLite, where they are exact; on PostgreSQL, which locks rows too, the bounds
// alone are checked. With PRESETBRIDGE_WRITE_LIMITS in the environment the line is written first.
void hold(std::string_view what, const Work& work, const Bound& bound, bool sqlite);

}  // namespace presetbridge::worst_case
