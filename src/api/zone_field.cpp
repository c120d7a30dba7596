#include "api/zone_field.h"

namespace presetbridge::api {

TimeZone read_zone(QueryFields& query) {
  constexpr std::size_t kLongest = 64;
  const auto name = query.optional_text("tz", kLongest);
  if (!name) return {};
  const auto zone = TimeZone::find(*name);
  if (!zone) query.problem("tz", "must be the name of a time zone, like Europe/Berlin");
  return zone.value_or(TimeZone());
}

}  // namespace presetbridge::api
