// Hardens a process that holds keys in its memory, as its first action.
#pragma once

namespace presetbridge::app {

// No core dumps, no inspection by other processes of the same user (spec 5.3). False: the system refused.
bool harden_process();

}  // namespace presetbridge::app
