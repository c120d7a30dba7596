// A database that counts what is asked of it, and passes it on to another one.
#pragma once

#include <memory>

#include "storage/database.h"
#include "work.h"

namespace presetbridge::worst_case {

// Passes all on to `database`, and adds the cost to `work`, which outlives it: of every run of a transaction,
// also of one that is rolled back. For one thread at a time.
std::unique_ptr<storage::Database> count_work(std::unique_ptr<storage::Database> database, Work& work);

}  // namespace presetbridge::worst_case
