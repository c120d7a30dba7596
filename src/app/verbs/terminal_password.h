// Passwords of verbs: asked on a terminal without showing them, else the first line of standard input, so
// that no list of processes has them.
#pragma once

#include <optional>
#include <string>

namespace presetbridge::app {

// `what` is what is asked for ("Password"); `again`: on a terminal twice, so that nobody sets what they did
// not mean. At most 4 KiB. Nothing, after a sentence on standard error: the two differ, or there is none. A
// signal that ends the process (Ctrl-C) finds the terminal as it was.
std::optional<std::string> ask_password(const std::string& what, bool again);

}  // namespace presetbridge::app
