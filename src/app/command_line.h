// The command line (spec 12.4): verbs, flags, exit codes.
#pragma once

namespace presetbridge::app {

// 0: done. 1: refused or failed, after one sentence on standard error. 2: the command line or the
// configuration is wrong. `serve` 3: it was ordered to stop and could not within its time.
int run_command_line(int argc, char** argv);

}  // namespace presetbridge::app
