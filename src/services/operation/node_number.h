// Keeps this node's number (storage/stores/node_store.h) while the node lives: no other may make ids with it.
#pragma once

#include <functional>
#include <string>

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/task.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// How long a number stays a node's that does not renew it: far longer than any pause of a process or of the
// database that the node may come back from.
inline constexpr Millis kNodeNumberLife = std::chrono::minutes{10};
inline constexpr Millis kNodeNumberRenewal = std::chrono::minutes{1};

// Lives on `scheduler`, where all of it is called.
class NodeNumber {
 public:
  // `number` is `owner`'s already; `roles`, comma-separated, is what the node does. `lost` is called once,
  // when another has it (after a renewal was missed for all of kNodeNumberLife, and every other number was
  // taken since): this node must end. All outlive this.
  NodeNumber(Scheduler& scheduler, storage::AsyncDatabase& async_db, Log& log, int number, std::string owner,
             std::string roles, std::function<void()> lost)
      : scheduler_(scheduler),
        async_db_(async_db),
        log_(log),
        number_(number),
        owner_(std::move(owner)),
        roles_(std::move(roles)),
        lost_(std::move(lost)),
        tasks_(scheduler, {.log = log, .message = "the node's number is not renewed any more, by a fault"}) {}

  void start();
  // Renews it no more. `stopped` is called once.
  void stop(Callback stopped);

 private:
  Task<void> loop();

  Scheduler& scheduler_;
  storage::AsyncDatabase& async_db_;
  Log& log_;
  const int number_;
  const std::string owner_;
  const std::string roles_;
  const std::function<void()> lost_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
