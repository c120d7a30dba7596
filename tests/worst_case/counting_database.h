// A database that counts what is asked of it, and asks another.
#pragma once

#include <memory>

#include "storage/database.h"
#include "work.h"

namespace presetbridge::worst_case {

// Adds to `work`, which outlives it. For one thread at a time.
std::unique_ptr<storage::Database> count_work(std::unique_ptr<storage::Database> database, Work& work);

}  // namespace presetbridge::worst_case
