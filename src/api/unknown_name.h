// Names in requests that are none there (spec 8.5).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace presetbridge::api {

// Of one request so many are told.
inline constexpr std::size_t kUnknownNamesTold = 20;

// A name that somebody sent, as an answer repeats it: its first 60 bytes, and … where there are more.
std::string told_name(std::string_view name);

// What is wrong with `name`, which stands in `prefix` ("items[2]."): it is no field. Tells the nearest of
// `known`, or all of them where none is near.
FieldProblem unknown_field(std::string_view prefix, std::string_view name,
                           std::span<const std::string> known);
// Likewise of a parameter of the query.
FieldProblem unknown_parameter(std::string_view name, std::span<const std::string> known);

}  // namespace presetbridge::api
