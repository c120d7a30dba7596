// API keys over REST (spec 6.2): /api/keys, for signed-in people only.
#pragma once

#include "api/router.h"
#include "services/accounts/api_keys.h"

namespace presetbridge::api {

struct KeysDeps {
  services::ApiKeys& keys;
};
// A key without its secret.
json::object key_json(const services::ApiKey& key);
void add_keys_routes(Router& router, KeysDeps deps);

}  // namespace presetbridge::api
