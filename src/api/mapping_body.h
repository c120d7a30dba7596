// One item mapping as a client writes it (spec 9.2), in JSON and as a line of a table alike.
#pragma once

#include <boost/json.hpp>
#include <vector>

#include "api/json_body.h"
#include "services/stores/integrations.h"

namespace presetbridge::api {

services::WantedMapping read_mapping(JsonFields& fields);
// The array `mappings` of a body.
std::vector<services::WantedMapping> read_mappings(JsonFields& fields, const services::MappingLimits& limits);

}  // namespace presetbridge::api
