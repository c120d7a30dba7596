// The schema's history: numbered files, compiled into the binary, applied forward only, each in its own
// transaction. The table schema_migrations holds each that was applied, with the SHA-256 of its text.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct Migration {
  int number;             // 1, 2, 3, ... without a gap
  std::string_view name;  // of the file src/storage/schema/NNNN_name.sql
  std::string_view sql;   // statements in the dialect of database.h, each ended by ';'
};

// The migrations of src/storage/schema/, in order.
std::span<const Migration> builtin_migrations();

// Applies the migrations that are missing; returns how many those were. Nodes that start together may all call it.
// Nothing is applied when it refuses: SCHEMA_NEWER (the database was made by a later version), SCHEMA_CHANGED (an
// applied migration's text is not the one in this binary), MIGRATION_FAILED (the text is wrong; earlier ones
// stand), STORAGE_UNAVAILABLE.
Expected<int> migrate(Database& database, std::span<const Migration> migrations = builtin_migrations());

// Whether the database's schema is the one of `migrations`, without changing anything: SCHEMA_NEWER and
// SCHEMA_CHANGED as above, SCHEMA_OLDER (migrate() would apply some), SCHEMA_MISSING (it has no list of
// migrations: it is not of this product, or migrate() has not run on it yet), STORAGE_UNAVAILABLE.
Expected<void> check_schema(Database& database, std::span<const Migration> migrations = builtin_migrations());

}  // namespace presetbridge::storage
