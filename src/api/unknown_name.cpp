#include "api/unknown_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"
#include "base/utf8.h"

namespace presetbridge::api {
namespace {

constexpr std::size_t kLongestName = 60;

std::string instead(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) return "it takes none";
  if (const auto nearest = nearest_name(name, known)) return fmt::format("is {} meant?", *nearest);
  return fmt::format("it takes {}", fmt::join(known, ", "));
}

}  // namespace

std::string shortened_name(std::string_view name) {
  if (name.size() <= kLongestName) return std::string(name);
  return std::string(cut_utf8(name, kLongestName)) + "…";
}

FieldProblem unknown_field(std::string_view prefix, std::string_view name,
                           std::span<const std::string> known) {
  if (name.empty()) {
    const auto parent = prefix.empty() ? "body" : prefix.substr(0, prefix.size() - 1);
    return {std::string(parent), "has a field without a name"};
  }
  return {std::string(prefix) + shortened_name(name),
          fmt::format("is not a field of this request; {}", instead(name, known))};
}

FieldProblem unknown_parameter(std::string_view name, std::span<const std::string> known) {
  if (name.empty()) return {"query", "has a parameter without a name"};
  return {shortened_name(name), fmt::format("is not a parameter of this request; {}", instead(name, known))};
}

}  // namespace presetbridge::api
