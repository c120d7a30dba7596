// Members of answers for which JSON has no type: an absent value is null, and a rate is a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/json.hpp>

#include "base/ids.h"
#include "base/time.h"

namespace presetbridge::api {

inline boost::json::value time_or_null(const std::optional<Timestamp>& time) {
  if (!time) return nullptr;
  return boost::json::value(to_iso8601(*time));
}
inline boost::json::value text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::value(text);
}
inline boost::json::value number_or_null(const std::optional<std::int64_t>& number) {
  if (!number) return nullptr;
  return *number;
}
// A rate that is counted in hundredths; a whole rate is written without a decimal point.
inline boost::json::value hundredths_json(std::int64_t hundredths) {
  if (hundredths % 100 == 0) return hundredths / 100;
  return static_cast<double>(hundredths) / 100;
}
template <class Kind>
boost::json::value id_or_null(Id<Kind> id) {
  if (!id) return nullptr;
  return boost::json::value(to_string(id));
}

}  // namespace presetbridge::api
