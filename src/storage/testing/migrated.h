// For tests: databases that have the schema of today and no rows but those of the migrations. The migrations are applied
// once a process; that takes ten times as long as what a test gets here.
#pragma once

#include <memory>
#include <string>

#include "storage/testing/temporary_postgres.h"

namespace presetbridge::storage::testing {

// Makes the file, which must not exist.
void copy_migrated_sqlite(const std::string& path);
// Its last owner must have closed all connections to it: it is emptied then, for the next test.
std::shared_ptr<TemporaryPostgres> take_migrated_postgres(TemporaryPostgres::Kind kind);

}  // namespace presetbridge::storage::testing
