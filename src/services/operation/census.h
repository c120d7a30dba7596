// The gauges that are counted in the database (spec 12.3): backlog and oldest age by stage, cloud accounts in
// trouble, nodes seen. Counted off the path of requests, each `every`, or less often where that takes long
// (base/recurring.h), so that it takes no more than a fiftieth of a reading connection's time.
#pragma once

#include <string>
#include <vector>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/task.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// Lives on `scheduler`, where all of it is called.
class Census {
 public:
  struct Options {
    Millis every{10'000};
    // The roles of this node, where it is the only one; empty: the nodes of the database are counted.
    std::vector<std::string> only_node = {};
  };
  // All outlive this.
  Census(Scheduler& scheduler, const Clock& clock, storage::AsyncDatabase& async_db, Log& log,
         Metrics& metrics, Options options)
      : scheduler_(scheduler),
        clock_(clock),
        async_db_(async_db),
        log_(log),
        metrics_(metrics),
        options_(std::move(options)),
        tasks_(scheduler,
               {.log = log, .message = "the gauges of the metrics are not counted any more, by a fault"}) {}

  void start();
  // `stopped` is called once, when the count under way has ended.
  void stop(Callback stopped);

 private:
  Task<void> loop();

  Scheduler& scheduler_;
  const Clock& clock_;
  storage::AsyncDatabase& async_db_;
  Log& log_;
  Metrics& metrics_;
  const Options options_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
