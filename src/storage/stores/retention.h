// What is deleted when its time is over (spec 7.4, 9.6), a bounded piece a transaction. Ids grow with time,
// so that the old rows of a table are a range of its primary key.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

// One piece of the way through a table's old rows.
struct AgedPiece {
  std::int64_t deleted = 0;
  // Where the next piece goes on; nothing: this was the last. Rows that had to stay are not met again on this
  // way.
  std::optional<std::int64_t> next;
};

// Each begins after the id `after` (0: at the start), and looks at `limit` rows at most that are older than
// `before`.

// A payload is as old as the newest event that it holds.
AgedPiece delete_old_payloads(Tx& tx, std::int64_t after, Timestamp before, int limit);
// What an inactive subscription has not been sent goes too: its body goes with the event. A send under way
// stays.
AgedPiece delete_old_sends(Tx& tx, std::int64_t after, Timestamp before, int limit);
// However young: what waits for subscriptions that were deleted. Here `after` and `next` are ids of
// subscriptions, and `limit` is one of the rows that are deleted.
AgedPiece delete_sends_of_nobody(Tx& tx, std::int64_t after, int limit);
AgedPiece delete_old_events(Tx& tx, std::int64_t after, Timestamp before, int limit);
// Here `after` and `next` are ids of subscriptions, those that were deleted since included.
AgedPiece delete_old_attempts(Tx& tx, std::int64_t after, Timestamp before, int limit);

}  // namespace presetbridge::storage
