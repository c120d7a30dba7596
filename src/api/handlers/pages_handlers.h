// The reference of the API for people (spec 8.3): GET /docs, and its style, GET /docs/style.css. It is whole
// in the program: nothing in it is of another origin, and it runs no script.
#pragma once

#include "api/router.h"

namespace presetbridge::api {

struct PagesDeps {
  bool sandbox = false;  // spec 12.2: said on the page
};
void add_pages_routes(Router& router, PagesDeps deps);

}  // namespace presetbridge::api
