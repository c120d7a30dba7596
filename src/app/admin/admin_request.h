// Arguments of the operator's commands, as they come over the admin channel: texts and whole numbers.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace presetbridge::app {

// An absent text is empty: the services behind say what they need.
inline std::string text_of(const boost::json::object& request, std::string_view name) {
  const auto* value = request.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}
inline std::int64_t integer_of(const boost::json::object& request, std::string_view name) {
  const auto* value = request.if_contains(name);
  return value && value->is_int64() ? value->get_int64() : 0;
}

// The name of the operator, at most 100 bytes. Empty: an earlier version of the command sent none.
inline std::string operator_of(const boost::json::object& request) {
  constexpr std::size_t kLongest = 100;
  return text_of(request, "operator").substr(0, kLongest);
}

inline std::unexpected<Error> no_such(std::string_view what, const std::string& text) {
  return fail("NOT_FOUND", "There is no " + std::string(what) + " " + text + ".");
}

}  // namespace presetbridge::app
