#include "limits_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace presetbridge::worst_case {
namespace {

std::string thousands(std::int64_t n) {
  auto text = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string kib(std::int64_t bytes) {
  return thousands((bytes + 1023) / 1024);
}

std::string page() {
  std::ifstream file(LIMITS_PAGE);
  return {std::istreambuf_iterator<char>(file), {}};
}

// In the place of the line of before, or at the end.
void write_line(std::string_view what, const std::string& line) {
  auto text = page();
  const auto at = text.find(fmt::format("\n| {} | ", what));
  if (at == std::string::npos) {
    text += line;
  } else {
    text.replace(at + 1, text.find('\n', at + 1) - at, line);
  }
  std::ofstream(LIMITS_PAGE) << text;
}

}  // namespace

void hold(std::string_view what, const Work& work, const Bound& bound, bool sqlite) {
  SCOPED_TRACE(what);
  EXPECT_LE(work.rows_written, bound.rows_written);
  EXPECT_LE(work.largest_transaction, bound.largest_transaction);
  EXPECT_LE(work.statements, bound.statements);
  EXPECT_LE(work.rows_read, bound.rows_read);
  EXPECT_LE(work.bytes_written, bound.bytes_written);
  EXPECT_LE(work.bytes_read, bound.bytes_read);
  EXPECT_LE(work.allocations, bound.allocations);
  EXPECT_LE(work.branches, bound.branches);
  if (!sqlite) return;
  const auto line = fmt::format("| {} | {} ({}) | {} | {} | {} | {} |\n", what, thousands(work.rows_written),
                                thousands(work.largest_transaction), thousands(work.statements),
                                thousands(work.rows_read), kib(work.bytes_written), kib(work.bytes_read));
  if (std::getenv("PRESETBRIDGE_WRITE_LIMITS") != nullptr) write_line(what, line);
  EXPECT_NE(page().find(line), std::string::npos)
      << "docs/limits.md does not hold this line:\n"
      << line << "(" << thousands(work.allocations) << " allocations, " << thousands(work.bytes_allocated)
      << " bytes of them, " << thousands(work.branches) << " branches)";
}

}  // namespace presetbridge::worst_case
