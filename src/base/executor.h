// The ports through which work is put on a thread and woken at a time. net/ implements them over Asio; tests
// and the simulation over a virtual clock.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"

namespace presetbridge {

using Callback = std::move_only_function<void()>;

// Runs callbacks one after the other on one thread (an actor's mailbox). post() is thread-safe and never runs
// the callback inside itself; callbacks posted by one thread run in the order posted. A callback must not
// throw.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void post(Callback callback) = 0;
};

// A pending wake-up. Destroying or cancelling it means that the callback does not run any more. Used on the
// thread of the executor that the timer was made for.
class Timer {
 public:
  virtual ~Timer() = default;
};

// Wakes callbacks on its own executor. schedule() is called on that executor's thread.
class Scheduler : public Executor {
 public:
  // Runs `callback` once, not before `delay` has passed (a negative delay counts as zero).
  [[nodiscard]] virtual std::unique_ptr<Timer> schedule(Millis delay, Callback callback) = 0;
};

}  // namespace presetbridge
