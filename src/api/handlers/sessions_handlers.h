// A person's own sessions (spec 7.2): GET /api/account/sessions, DELETE /api/account/sessions/{session}, and
// DELETE /api/account/sessions, which signs out everywhere, or everywhere else.
#pragma once

#include "api/router.h"
#include "identity/sessions.h"

namespace presetbridge::api {

struct SessionsDeps {
  identity::Sessions& sessions;
};
void add_sessions_routes(Router& router, SessionsDeps deps);

}  // namespace presetbridge::api
