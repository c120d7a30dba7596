// For tests: databases that have the schema of today and no rows but those of the migrations. The migrations are applied
// once a process; that takes ten times as long as what a test gets here.
#pragma once

#include <memory>
#include <string>

#include "storage/testing/temporary_postgres.h"

namespace presetbridge::storage::testing {

// Makes the file, which must not exist.
void copy_migrated_sqlite(const std::string& path);
// Returns a database that is emptied for the next test when its last owner lets it go. The owner closes all connections
// to it before.
std::shared_ptr<TemporaryPostgres> take_migrated_postgres(TemporaryPostgres::Kind kind);

}  // namespace presetbridge::storage::testing
