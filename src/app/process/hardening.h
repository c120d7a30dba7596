// What every process with keys in its memory does first.
#pragma once

namespace presetbridge::app {

// No core dumps, no inspection by other processes of the same user (spec 5.3). False: the system refused.
bool harden_process();

}  // namespace presetbridge::app
