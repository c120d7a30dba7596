// The Database port over SQLite: one file in WAL mode. One connection writes and checkpoints;
// `readers` read-only connections serve read(), each with the view of the moment when its transaction first
// reads. Files are created readable by their owner only. A lock file keeps a second process (and a second
// open in this one) out: two writers in one WAL database are what Debian's SQLite must not meet.
//
// commit() leaves the log unsynced (synchronous=NORMAL: SQLite syncs around checkpoints alone, which keeps
// the file whole over a power cut); sync() is fdatasync of the log, so that the disk works while the next
// transaction runs. After a sync that failed nothing says what of the log is on disk: from then on every
// write is refused, until the database is opened again, which copies the log into the file and syncs that.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct SqliteOptions {
  std::string path;  // the database file; its directory exists
  int readers = 2;   // connections for read(), 1..64; more callers than that wait
  // Of the log, at which it is checkpointed. A page that changed several times since is written to the file
  // once, so more pages are fewer writes; nobody else commits while they are written.
  int checkpoint_pages = 12'000;
  int cache_mib = 16;                  // page cache of each connection, at most
  std::string lock_file;               // empty: path + ".lock"
  int (*sync_file)(int fd) = nullptr;  // for tests; nullptr: fdatasync
  // Told when checkpoints begin to fail, and when they work again; outlives the database. nullptr: nobody.
  Log* log = nullptr;
};

// `clock` outlives the database. Errors: STORAGE_LOCKED when another process has it open, STORAGE_UNAVAILABLE
// when it cannot be opened.
Expected<std::unique_ptr<Database>> open_sqlite(SqliteOptions options, const Clock& clock);

}  // namespace presetbridge::storage
