#include "base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace presetbridge {
namespace {

constexpr std::size_t kLongestName = 80;

// How many letters must change, come or go to make one text of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({change, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  if (name.size() > kLongestName) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto& one : known) {
    const auto away = distance(name, one);
    if (away >= best) continue;
    best = away;
    nearest = one;
  }
  return nearest;
}

}  // namespace presetbridge
