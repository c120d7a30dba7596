// How many files this process may have open, and how they are shared out: what the service itself needs
// first, connections of clients what is left.
#pragma once

#include <cstdint>

#include "app/config/config.h"
#include "base/error.h"
#include "base/log.h"

namespace presetbridge::app {

// Raises the soft limit to the hard one. The limit that holds then.
std::int64_t raise_open_files();

// Open files at most besides connections of clients: database, event loops, log, credential agent, calls to
// the platform, to receivers and to issuers, names that are looked up. `threads`: that serve.
std::int64_t own_files(const Config& config, int threads);

// http.connections, or as many as `limit` leaves room for. TOO_FEW_FILES: these are fewer than 128 (or than
// http.connections).
Expected<std::int64_t> connections_within(const Config& config, int threads, std::int64_t limit);

// Raises the limit of open files, and lowers http.connections to fit it, which is logged.
// TOO_FEW_FILES.
Expected<void> fit_open_files(Config& config, int threads, Log& log);

}  // namespace presetbridge::app
