// GET and PUT /api/me/preferences: what a person set for their own screens. Only they see it; it goes with
// them.
#pragma once

#include "api/router.h"
#include "services/accounts/people.h"

namespace presetbridge::api {

struct PreferencesDeps {
  services::People& people;
};
void add_preferences_routes(Router& router, PreferencesDeps deps);

}  // namespace presetbridge::api
