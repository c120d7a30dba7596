// How verbs end: exit codes, and the message of a failure.
#pragma once

#include "base/error.h"

namespace presetbridge::app {

inline constexpr int kFailed = 1;    // refused or failed, after one sentence on standard error
inline constexpr int kWrongUse = 2;  // the command line or the configuration is wrong

// Prints the error on standard error; returns kFailed.
int failed(const Error& error);

}  // namespace presetbridge::app
