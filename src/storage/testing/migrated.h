// For tests: databases that have the schema of today and no rows but those of the migrations. The migrations are applied
// once a process; that takes ten times as long as what a test gets here.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "storage/database.h"
#include "storage/testing/temporary_postgres.h"

namespace presetbridge::storage::testing {

// Makes the file, which must not exist.
void copy_migrated_sqlite(const std::string& path);
// Returns a database that reads the time from `clock`, which outlives it. When it is destroyed, its rows are deleted, and its
// connections stay open for the next test: a new one would read the schema and plan each statement again.
std::unique_ptr<Database> take_migrated_postgres(TemporaryPostgres::Kind kind, const Clock& clock);

}  // namespace presetbridge::storage::testing
