// Coroutines that run beside everything else until they are stopped, and whose end can be waited for.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "base/executor.h"
#include "base/task.h"
#include "base/wakeup.h"

namespace presetbridge {

// Lives on `scheduler`, where all of it is called but wake(). One of the tasks, the loop, may wait(); all
// look at stopping() and come to an end soon after it is true.
class BackgroundTasks {
 public:
  // What left a task: null when it ended as it should. Must not throw.
  using Ended = std::move_only_function<void(const std::exception_ptr& fault)>;

  explicit BackgroundTasks(Scheduler& scheduler) : wakeup_(scheduler) {}

  void start(Task<void> task, Ended ended) {
    ++running_;
    spawn(std::move(task), [this, ended = std::move(ended)](Outcome<void> outcome) mutable {
      --running_;
      ended(outcome.exception);
      tell_when_stopped();
    });
  }
  // `stopped` is called once, when no task runs any more: at once if none does.
  void stop(Callback stopped) {
    stopping_ = true;
    stopped_ = std::move(stopped);
    wakeup_.notify();
    tell_when_stopped();
  }
  bool stopping() const { return stopping_; }
  // Tasks that run.
  int running() const { return running_; }

  // Until wake(), stop(), or `most` has passed.
  auto wait(Millis most) { return wakeup_.wait(most); }
  // Any thread.
  void wake() { wakeup_.notify(); }

 private:
  void tell_when_stopped() {
    if (stopping_ && running_ == 0 && stopped_) std::exchange(stopped_, {})();
  }

  Wakeup wakeup_;
  int running_ = 0;
  bool stopping_ = false;
  Callback stopped_;
};

}  // namespace presetbridge
