// The Database port over SQLite: one file in WAL mode. One connection writes and checkpoints;
// `readers` read-only connections serve read(), each with the view of the moment when its transaction first
// reads. Files are created readable by their owner only. A lock file refuses a second process (and a second
// open in this one): Debian's SQLite must not have two writers in one WAL database.
//
// commit() leaves the log unsynced (synchronous=NORMAL: SQLite syncs around checkpoints alone, which leaves the
// file whole after a power cut); sync() is fdatasync of the log, so that the disk works while the next
// transaction runs. After a sync that failed it is unknown what of the log is on disk: from then on every
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
  // The length of the log at which it is checkpointed. A page that changed several times since is written to the
  // file once, so more pages are fewer writes; no transaction commits while they are written.
  int checkpoint_pages = 12'000;
  int cache_mib = 16;                  // page cache of each connection, at most
  std::string lock_file;               // empty: path + ".lock"
  int (*sync_file)(int fd) = nullptr;  // for tests; nullptr: fdatasync
  // Gets a line when checkpoints begin to fail, and when they work again; outlives the database. nullptr: none.
  Log* log = nullptr;
};

// `clock` outlives the database. Errors: STORAGE_LOCKED when another process has it open, STORAGE_UNAVAILABLE
// when it cannot be opened.
Expected<std::unique_ptr<Database>> open_sqlite(SqliteOptions options, const Clock& clock);

}  // namespace presetbridge::storage
