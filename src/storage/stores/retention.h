// The deletion of rows whose retention has ended (spec 7.4, 9.6), a bounded batch a transaction. Ids grow
// with time, so that the old rows of a table are a range of its primary key.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

// The result of one batch of a scan over a table's old rows.
struct AgedBatch {
  std::int64_t deleted = 0;
  // `after` of the next batch; nothing: this was the last. The scan does not come back to rows that had to
  // stay.
  std::optional<std::int64_t> next;
};

// Each begins after the id `after` (0: at the start), and reads at most `limit` rows that are older than
// `before`.

// A payload is as old as the newest event that it holds.
AgedBatch delete_old_payloads(Tx& tx, std::int64_t after, Timestamp before, int limit);
// Dispatches that wait for an inactive subscription are deleted too, as their events are, with the bodies.
// A delivery attempt that is under way stays, and so does one that is due at `before` or later: the event was sent
// again, and its attempts are not over. The answers to attempts that were made later are blanked.
AgedBatch delete_old_dispatches(Tx& tx, std::int64_t after, Timestamp before, int limit);
// Dispatches of any age that wait for subscriptions that were deleted. Here `after` and `next` are ids of
// subscriptions, and `limit` is the most rows that are deleted.
AgedBatch delete_dispatches_of_nobody(Tx& tx, std::int64_t after, int limit);
// An event stays as long as a dispatch of it does.
AgedBatch delete_old_events(Tx& tx, std::int64_t after, Timestamp before, int limit);
// Here `after` and `next` are ids of subscriptions, those that were deleted since included.
AgedBatch delete_old_attempts(Tx& tx, std::int64_t after, Timestamp before, int limit);

}  // namespace presetbridge::storage
