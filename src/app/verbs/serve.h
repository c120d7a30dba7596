// `presetbridge serve`: the life of the service's process.
#pragma once

#include "app/config/config.h"

namespace presetbridge::app {

// Serves until SIGTERM or SIGINT, then stops within ten seconds (spec 12.3). Prints {"listening":"http://…"}
// once it is ready. The exit codes are those of command_line.h. `replace_lost_database`: see
// lay_foundation().
int serve(const Config& config, bool replace_lost_database);

}  // namespace presetbridge::app
