// The loop that finds payments that no webhook and no landing page reported (spec 11.3): it reads the
// processor's own notices from where it stopped, whenever that was, and asks about each purchase that is due.
// A purchase that was paid while the service was away is granted within a minute of its return.
#pragma once

#include <deque>
#include <set>
#include <string>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/recurring.h"
#include "services/payments/settlement.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// All functions but wake() are called on `scheduler`. Several nodes may run it: one of them reads the notices, by
// lease, and a node claims a purchase before it asks about it.
class Reconciliation {
 public:
  struct Ports {
    Scheduler& scheduler;
    const Clock& clock;
    storage::AsyncDatabase& async_db;
    Settlement& settlement;
    Log& log;
    Metrics& metrics;
    std::string node;
  };
  struct Pace {
    Millis poll{5'000};                        // for purchases that are due
    Millis notices{20'000};                    // poll interval for notices
    Millis overlap = std::chrono::minutes{5};  // read again: notices may be listed late
    Millis lease{30'000};                      // of the notices
    Millis again = std::chrono::minutes{1};    // a purchase whose answer did not come is due again
    int pages = 20;                            // of notices, in one round
    int at_once = 8;                           // questions
    int claimed = 64;                          // purchases, in one round
  };
  // All that the ports refer to outlives this.
  explicit Reconciliation(Ports ports) : Reconciliation(std::move(ports), Pace{}) {}
  Reconciliation(Ports ports, Pace pace);

  void start();
  // `stopped` is called once, when the questions under way have been answered.
  void stop(Callback stopped);
  // Any thread: something may be due.
  void wake() { tasks_.wake(); }

 private:
  Task<void> loop();
  Task<void> read_notices();
  Task<bool> read_page(storage::NoticeCursor& cursor);
  Task<void> ask_due();
  Task<void> ask(PurchaseId id);
  Task<void> count_pending();
  void remember(const std::string& notice);

  const Ports ports_;
  const Pace pace_;
  Recurring notices_;
  // Notices of the overlap that led to a purchase already, oldest first.
  std::deque<std::string> order_;
  std::set<std::string> seen_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
