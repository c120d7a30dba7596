// The background work on subscriptions besides their delivery attempts: recoveries that their owners asked
// for (spec 9.5), and receivers that only fail (spec 10.1). The account's other subscriptions are notified of
// such a receiver after an hour; after five days it is turned off, a day after the notice at the earliest.
#pragma once

#include <utility>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/task.h"
#include "base/wakeup.h"
#include "storage/commit/async_database.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {

// Lives on `scheduler`, where all of it but wake() is called. Nodes may do the same at once.
class SubscriptionWatch {
 public:
  struct Pace {
    int batch = 500;  // dispatches made due in one transaction
    Millis poll{5'000};
    Millis trouble_poll{60'000};
    Millis report_after = std::chrono::hours{1};
    Millis off_after = std::chrono::days{5};
    Millis report_before = std::chrono::days{1};
  };
  // All outlive this. `changed` is called when there may be something to send.
  SubscriptionWatch(Scheduler& scheduler, storage::AsyncDatabase& async_db, IdSource& ids, Random& random,
                    Log& log, Callback changed)
      : SubscriptionWatch(scheduler, async_db, ids, random, log, std::move(changed), Pace{}) {}
  SubscriptionWatch(Scheduler& scheduler, storage::AsyncDatabase& async_db, IdSource& ids, Random& random,
                    Log& log, Callback changed, Pace pace);

  void start();
  // `stopped` is called once, when the batch under way has ended.
  void stop(Callback stopped);
  // There may be a recovery. Thread-safe, cheap.
  void wake() { tasks_.wake(); }

 private:
  Task<void> recovery_loop();
  Task<void> trouble_loop();
  // A transaction a subscription: what one of them throws holds up no other.
  Task<void> report(SubscriptionId id);
  storage::TroubleRules rules(Timestamp now) const {
    return {now, pace_.report_after, pace_.off_after, pace_.report_before};
  }

  Scheduler& scheduler_;
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Random& random_;
  Log& log_;
  Callback changed_;
  const Pace pace_;
  Wakeup trouble_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
