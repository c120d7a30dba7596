// GET and PUT /api/me/preferences: a person's settings of their own screens. Only that person sees them;
// they are deleted with the person.
#pragma once

#include "api/router.h"
#include "services/accounts/people.h"

namespace presetbridge::api {

struct PreferencesDeps {
  services::People& people;
};
void add_preferences_routes(Router& router, PreferencesDeps deps);

}  // namespace presetbridge::api
