// `presetbridge serve`: runs the service from its start to its end.
#pragma once

#include "app/config/config.h"

namespace presetbridge::app {

// Serves until SIGTERM or SIGINT, then stops within ten seconds (spec 12.3). Prints {"listening":"http://…"}
// once it is ready. Returns an exit code of command_line.h. `replace_lost_database` is passed to
// lay_foundation().
int serve(const Config& config, bool replace_lost_database);

}  // namespace presetbridge::app
