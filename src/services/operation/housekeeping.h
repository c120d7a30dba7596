// The loop that deletes rows past their time: retention (spec 7.4, 9.6), and leftovers (expired refresh
// tokens, forgotten sign-in attempts, mappings of saves that came to nothing, dispatches of deleted
// subscriptions, live changes of nodes that are no more). It also fills the columns that lists show of orders
// that an older program wrote, and gives deliveries of before the keys that they are found by
// (storage/stores/delivery_search.h), counts those that it has written last, and sums the quarters of long
// ago up to days (storage/stores/activity_store.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/task.h"
#include "storage/commit/async_database.h"
#include "storage/stores/retention.h"

namespace presetbridge::services {

// How long rows are kept; longer than the last retry of an outbound webhook, which comes after 32 hours.
struct Retention {
  Millis payloads = std::chrono::days{30};  // and jobs on many that have ended
  Millis outbound = std::chrono::days{90};  // events, dispatches and attempts
  Millis timelines =
      std::chrono::days{90};  // attempts on deliveries, then summed up; kShortestTimelines at least
  Millis audit_log = std::chrono::days{730};
  Millis activity = std::chrono::days{90};  // by the quarter of an hour; then by the day
};

// Lives on `scheduler`, where all of it is called. A round begins at once and then each `period` after the
// one before has ended; it deletes in batches, each a transaction of at most `batch` rows with `pause`
// behind it, so that other work goes on between them. The next round does the rest. Nodes may run it
// at once.
class Housekeeping {
 public:
  struct Pace {
    int batch = 500;
    Millis pause{100};
    Millis period = std::chrono::hours{1};
    std::int64_t sign_in_attempts =
        100'000;  // kept by a round, those touched last; and those touched together with the oldest of them
  };
  // All outlive this. The database's clock says what is old.
  Housekeeping(Scheduler& scheduler, storage::AsyncDatabase& async_db, Log& log, Retention retention)
      : Housekeeping(scheduler, async_db, log, retention, Pace{}) {}
  Housekeeping(Scheduler& scheduler, storage::AsyncDatabase& async_db, Log& log, Retention retention,
               Pace pace)
      : scheduler_(scheduler),
        async_db_(async_db),
        log_(log),
        retention_(retention),
        pace_(pace),
        tasks_(scheduler, {.log = log, .message = "housekeeping has ended by a fault"}) {}

  void start();
  // `stopped` is called once, when the batch under way has ended.
  void stop(Callback stopped);

 private:
  // One batch of a way that begins at 0.
  using DeleteBatch = std::function<storage::AgedBatch(storage::Tx&, std::int64_t after)>;

  Task<void> loop();
  Task<void> round();
  Task<void> list_orders();
  Task<void> walk(std::string_view what, DeleteBatch delete_batch);

  Scheduler& scheduler_;
  storage::AsyncDatabase& async_db_;
  Log& log_;
  const Retention retention_;
  const Pace pace_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
