// The service's database, of either engine, and the clock that what is stored in it is compared with.
#pragma once

#include <memory>

#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "storage/database.h"

namespace presetbridge::app {

struct OpenDatabase {
  std::unique_ptr<Clock> clock;  // this machine's with SQLite, the server's with PostgreSQL
  std::unique_ptr<storage::Database> database;
};

// STORAGE_LOCKED: with SQLite, another process is at work in this data directory. STORAGE_UNAVAILABLE: the
// file cannot be used, or the server not be reached. No message shows a password. Faults that no caller waits
// for are logged to `log`, which outlives the database; nullptr: they are dropped.
Expected<OpenDatabase> open_database(const Config& config, const DataDirectory& directory,
                                     Log* log = nullptr);

}  // namespace presetbridge::app
