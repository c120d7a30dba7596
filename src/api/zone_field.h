// The parameter `tz` of a query: the time zone of the viewer, UTC where none is named.
#pragma once

#include "api/query_fields.h"
#include "base/time_zone.h"

namespace presetbridge::api {

TimeZone read_zone(QueryFields& query);

}  // namespace presetbridge::api
