// For benchmarks and tests of plans, not for programs: the rows of finished deliveries, made by statements that
// insert many at once.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage::testing {

// Inserts `count` completed deliveries, distributed in rotation over the stores whose account has a cloud account
// (there is at least one), with all that is stored of them: order, item, timeline, ledger, customers (friends, two
// deliveries each, different files) and, where the account has active subscriptions, both events of a
// delivery with a row of webhook_sends and an attempt for each. They were made evenly from 89 to 31 days before
// `now`, so their payloads are gone and their events are not (spec 9.6), and their ids are smaller than new ones.
// Each 20,000 are a transaction of their own. Once for a database: a second call would make these ids again.
void insert_old_deliveries(Database& database, std::int64_t count, Timestamp now);

}  // namespace presetbridge::storage::testing
