// Names in requests that are none there (spec 8.5).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace presetbridge::api {

// The most unknown names that one answer lists.
inline constexpr std::size_t kMostUnknownNames = 20;

// A name that somebody sent, as an answer repeats it: its first 60 bytes, and … where there are more.
std::string shortened_name(std::string_view name);

// The problem of `name` behind `prefix` ("items[2]."), which is no field. Names the nearest of
// `known`, or all of them where none is near.
FieldProblem unknown_field(std::string_view prefix, std::string_view name,
                           std::span<const std::string> known);
// Likewise of a parameter of the query.
FieldProblem unknown_parameter(std::string_view name, std::span<const std::string> known);

}  // namespace presetbridge::api
