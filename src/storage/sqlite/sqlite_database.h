// The Database port over SQLite: one file, WAL, synchronous=FULL. One connection writes and checkpoints;
// `readers` read-only connections serve read(), each with the view of the moment when its transaction first
// reads. Files are created readable by their owner only. A lock file keeps a second process (and a second
// open in this one) out: two writers in one WAL database are what Debian's SQLite must not meet.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct SqliteOptions {
  std::string path;                     // the database file; its directory exists
  int readers = 2;                      // connections for read(), 1..64; more callers than that wait
  int wal_autocheckpoint_pages = 1000;  // more: higher throughput, longer slowest commits
  int cache_mib = 16;                   // page cache of each connection, at most
  std::string lock_file;                // empty: path + ".lock"
};

// `clock` outlives the database. Errors: STORAGE_LOCKED when another process has it open, STORAGE_UNAVAILABLE
// when it cannot be opened.
Expected<std::unique_ptr<Database>> open_sqlite(SqliteOptions options, const Clock& clock);

}  // namespace presetbridge::storage
