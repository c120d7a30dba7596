// Streams one delivery to a buyer who has its link open (spec 13.3): its present state, not its history.
// Deliveries on buyers' screens are polled: people who have not signed in must not make an account's
// transactions write more.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/recurring.h"
#include "base/shared_slots.h"
#include "base/task.h"
#include "net/http.h"
#include "storage/commit/async_database.h"
#include "storage/stores/change_store.h"

namespace presetbridge::services {

class BuyerReader;

// open() is called on any thread, all else on `scheduler`. Outlives its readers; destroyed after
// AsyncDatabase::shutdown().
class BuyerChanges {
 public:
  struct Deps {
    Scheduler& scheduler;
    storage::AsyncDatabase& async_db;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
  };
  // All outlive this.
  explicit BuyerChanges(Deps deps)
      : deps_(deps),
        tasks_(deps.scheduler, {.log = deps.log, .message = "buyers' live changes have ended by a fault"}) {}

  struct Reading {
    DeliveryId delivery;
    storage::DeliveryMark now;  // as read with the link
    std::string last_event_id;  // empty: none
    SharedSlots::Slot slot;
  };
  // A stream of server-sent events: `hello`, then `delivery` events, each for all changes since the
  // reader's last event. It ends after an hour, or when the link is replaced or the delivery is gone: a
  // reader that comes back shows the token again.
  std::shared_ptr<net::BodyStream> open(Scheduler& scheduler, Reading reading);

  void start();
  // `stopped` is called once, when nothing is under way any more. Readers are ended by their server.
  void stop(Callback stopped);

 private:
  friend class BuyerReader;
  Task<void> loop();
  Task<void> poll();
  void remove(BuyerReader& reader);

  static constexpr Millis kPollInterval{1'000};

  const Deps deps_;
  BackgroundTasks tasks_;
  Recurring polls_{kPollInterval};
  std::mutex mutex_;  // guards readers_
  std::unordered_map<DeliveryId, std::unordered_set<BuyerReader*>> readers_;
};

}  // namespace presetbridge::services
