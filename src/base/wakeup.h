// Lets a worker loop wait until it is notified or a time has passed.
#pragma once

#include <atomic>
#include <coroutine>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "base/task.h"

namespace presetbridge {

// One coroutine waits, on the thread of `scheduler`; anyone notifies, from any thread. A notification that
// finds nobody waiting is kept, one of them, for the next wait(): none is lost between looking for work and
// waiting for more. Destroyed on the scheduler's thread (or when that has ended), and not while a coroutine
// waits.
class Wakeup {
 public:
  explicit Wakeup(Scheduler& scheduler) : state_(std::make_shared<State>(scheduler)) {}
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // Cheap when repeated before the waiter has run. Never resumes inside itself.
  void notify() {
    if (!state_->notified.exchange(true)) {
      state_->scheduler.post([state = state_] {
        if (state->notified.load()) state->resume(true);
      });
    }
  }

  // True: notified (at once if a notification was kept). False: `max` passed.
  auto wait(Millis max) { return Awaiter{*state_, max}; }

 private:
  struct State {
    explicit State(Scheduler& s) : scheduler(s) {}
    void resume(bool by_notification) {
      if (!waiter) return;
      if (by_notification) notified = false;
      woken = by_notification;
      timer.reset();
      std::exchange(waiter, nullptr).resume();
    }
    Scheduler& scheduler;
    std::atomic<bool> notified{false};
    // Used on the scheduler's thread alone:
    std::coroutine_handle<> waiter;
    std::unique_ptr<Timer> timer;
    bool woken = false;
  };

  struct Awaiter {
    State& state;
    Millis max;
    bool await_ready() const noexcept { return state.woken = state.notified.exchange(false); }
    void await_suspend(std::coroutine_handle<> caller) {
      state.waiter = caller;
      state.timer = state.scheduler.schedule(max, [&s = state] { s.resume(false); });
    }
    bool await_resume() const noexcept { return std::exchange(state.woken, false); }
  };

  std::shared_ptr<State> state_;
};

// Goes on when `delay` has passed; on the thread of `scheduler`, where it is awaited. A sleep that may have
// to end early is a Wakeup::wait().
inline Task<void> sleep_for(Scheduler& scheduler, Millis delay) {
  Wakeup never(scheduler);
  co_await never.wait(delay);
}

}  // namespace presetbridge
