// API keys over REST (spec 6.2): /api/keys, for signed-in people only.
#pragma once

#include "api/router.h"
#include "services/api_keys.h"

namespace presetbridge::api {

struct KeysDeps {
  services::ApiKeys& keys;
};
void add_keys_routes(Router& router, KeysDeps deps);

}  // namespace presetbridge::api
