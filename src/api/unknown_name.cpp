#include "api/unknown_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"

namespace presetbridge::api {
namespace {

constexpr std::size_t kLongestNameTold = 60;

std::string instead(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) return "it takes none";
  if (const auto nearest = nearest_name(name, known)) return fmt::format("is {} meant?", *nearest);
  return fmt::format("it takes {}", fmt::join(known, ", "));
}

}  // namespace

FieldProblem unknown_name(std::string_view what, std::string_view prefix, std::string_view name,
                          std::span<const std::string> known) {
  const bool told = name.size() <= kLongestNameTold;
  return {std::string(prefix).append(told ? name : ""),
          fmt::format("is not {} of this request; {}", what, instead(name, known))};
}

}  // namespace presetbridge::api
