// Moves all that one database holds into another, empty one, of whichever engine; for one that outgrew
// SQLite.
//
// Rows go in the order of their primary keys, some at a time, each piece in one transaction of the target. So
// the newest row of a table there says how far its copy has come, and one that was interrupted at any moment
// goes on behind it. The table copy_progress stands in the target as long as the copy is not finished: it
// says which source it is of, and keeps services out.
//
// Not copied: nodes (the new database's nodes take their own numbers; that of the source's only node stays
// taken, so that no id is made twice) and schema_migrations (the target is migrated here).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "storage/database.h"
#include "storage/stores/key_store.h"

namespace presetbridge::storage {

struct CopyProgress {
  bool comparing = false;  // else copying
  std::string_view table;
  std::int64_t rows = 0;  // of this table, by this call
  bool done = false;      // with this table
};

struct CopyOptions {
  int piece_rows = 1'000;  // 1..10,000: at most so many a transaction; fewer where they are long
  // Noted in the target as used (key_store.h), where the source knows none of that use: nodes with others are
  // then refused.
  std::vector<std::pair<KeyUse, std::string>> keys;
  // Told after each piece, on the caller's thread. What it throws leaves copy_database().
  std::function<void(const CopyProgress&)> progress = [](const CopyProgress&) {};
};

// What the comparison found. A checksum is a chain of SHA-256 over the rows in the order of their keys, each
// with its columns' types and lengths; hexadecimal.
struct CopiedTable {
  std::string name;
  std::int64_t source_rows = 0;
  std::int64_t target_rows = 0;
  std::string source_checksum;
  std::string target_checksum;
  bool equal() const { return source_rows == target_rows && source_checksum == target_checksum; }
};

// Copies, or goes on copying, and compares all rows of both. When all are equal copy_progress is removed and
// the target is open for service; else it stays. The source is migrated; nobody writes to either meanwhile:
// the caller holds the source's lock. Keeps at most about 16 MiB of rows in memory, or one row of each.
// Errors, each before any row was copied: COPY_TARGET_NOT_EMPTY, COPY_OTHER_SOURCE (the target holds an
// unfinished copy of another source, or the source has changed since), those of migrate() for the target,
// SCHEMA_CHANGED (the two do not have the same tables). Throws DbError; calling it again then goes on.
Expected<std::vector<CopiedTable>> copy_database(Database& source, Database& target,
                                                 const CopyOptions& options);

// Whether this database is the target of a copy that is not finished.
bool copy_unfinished(Tx& tx, std::string_view engine);

}  // namespace presetbridge::storage
