// Names in requests that are none there (spec 8.5).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace presetbridge::api {

// Of one request so many are told.
inline constexpr std::size_t kUnknownNamesTold = 20;

// What is wrong with `name`, found in `prefix` ("items[2]."): it is no `what` ("a field", "a parameter"), and
// the nearest of `known`, or all of them where none is near. A name of more than 60 bytes is not repeated.
FieldProblem unknown_name(std::string_view what, std::string_view prefix, std::string_view name,
                          std::span<const std::string> known);

}  // namespace presetbridge::api
