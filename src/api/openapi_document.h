// The contract that the service serves: api/openapi.json, compiled in. It is made from api/openapi.yaml by
// api/make_openapi_json.mjs and committed.
#pragma once

#include <string_view>

namespace presetbridge::api {

extern const std::string_view openapi_document;

}  // namespace presetbridge::api
