// Pages for people: GET / says what this is, GET /docs is the reference of the API (spec 8.3), GET
// /docs/style.css their style. They are whole in the program: nothing in them is of another origin, and none
// runs a script.
#pragma once

#include <string>

#include "api/router.h"

namespace presetbridge::api {

struct PagesDeps {
  std::string version;
  bool sandbox = false;  // spec 12.2: said on every page
};
void add_pages_routes(Router& router, PagesDeps deps);

}  // namespace presetbridge::api
