// Moves all rows of one database into another, empty one; each may be of either engine. For a deployment that
// outgrew SQLite.
//
// Rows are copied in the order of their primary keys, a batch in each transaction of the target. So the newest row
// of a table there shows how far its copy has got, and a copy that was interrupted at any moment continues behind
// it. The table copy_progress exists in the target as long as the copy is not finished: it holds which source the
// copy is of, and keeps services from starting on it.
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
  bool done = false;      // this table is finished
};

struct CopyOptions {
  int batch_rows = 1'000;  // 1..10,000: at most so many a transaction; fewer where they are long
  // Noted in the target as used (key_store.h), where the source has no used key of that use: nodes with other
  // keys are then refused.
  std::vector<std::pair<KeyUse, std::string>> keys;
  // Called after each batch, on the caller's thread. Its exceptions leave copy_database().
  std::function<void(const CopyProgress&)> progress = [](const CopyProgress&) {};
};

// The result of the comparison. A checksum is a chain of SHA-256 over the rows in the order of their keys, each
// with its columns' types and lengths; hexadecimal.
struct CopiedTable {
  std::string name;
  std::int64_t source_rows = 0;
  std::int64_t target_rows = 0;
  std::string source_checksum;
  std::string target_checksum;
  bool equal() const { return source_rows == target_rows && source_checksum == target_checksum; }
};

// Copies, or continues a copy, and compares all rows of both. When all are equal copy_progress is removed and
// the target is open for service; else it stays. The source must be migrated, and nobody may write to either
// meanwhile: the caller holds the source's lock. Holds at most about 16 MiB of rows in memory, or one row of each.
// Errors, each before any row was copied: COPY_TARGET_NOT_EMPTY, COPY_OTHER_SOURCE (the target holds an
// unfinished copy of another source, or the source has changed since), those of migrate() for the target,
// SCHEMA_CHANGED (the two do not have the same tables). Throws DbError; another call then continues the copy.
Expected<std::vector<CopiedTable>> copy_database(Database& source, Database& target,
                                                 const CopyOptions& options);

// Whether this database is the target of a copy that is not finished.
bool copy_unfinished(Tx& tx, std::string_view engine);

}  // namespace presetbridge::storage
