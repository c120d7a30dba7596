// Coroutines that run beside everything else until they are stopped, and whose end can be waited for.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/task.h"
#include "base/wakeup.h"

namespace presetbridge {

// The message of an exception of any type.
inline std::string fault_text(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const Error& e) {
    return e.message;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

// The log line and the counter for an exception that a task did not catch. That is a fault of the service; it
// ends this task alone.
struct FaultReport {
  Log& log;
  std::string_view message;  // of the line, which also names the task and its exception
  Metrics* metrics = nullptr;
  std::string_view counter = {};  // with `metrics`
};

// All functions but wake() are called on `scheduler`. At most one of the tasks may wait(); every task checks
// stopping() and ends soon after it is true. Texts that are passed as views are literals.
class BackgroundTasks {
 public:
  // Called at a task's end. `fault`, already logged, is null when the task ended without an exception. Must
  // not throw.
  using Ended = std::move_only_function<void(const std::exception_ptr& fault)>;

  // The objects in `report` outlive this.
  BackgroundTasks(Scheduler& scheduler, FaultReport report) : wakeup_(scheduler), report_(report) {}

  // Starts a task that runs until stop().
  void start_loop(Task<void> task, std::string_view name, Ended ended = {}) {
    start(std::move(task), name, loops_, std::move(ended));
  }
  // Starts a task that ends by itself.
  void start_job(Task<void> task, std::string_view name, Ended ended = {}) {
    start(std::move(task), name, jobs_, std::move(ended));
  }
  // `stopped` is called once, when no task runs any more: at once if none does.
  void stop(Callback stopped) {
    stopping_ = true;
    stopped_ = std::move(stopped);
    wakeup_.notify();
    notify_when_stopped();
  }
  bool stopping() const { return stopping_; }
  // Jobs under way.
  int jobs() const { return jobs_; }

  // Until wake(), stop(), or `most` has passed.
  auto wait(Millis most) { return wakeup_.wait(most); }
  // Any thread.
  void wake() { wakeup_.notify(); }

 private:
  void start(Task<void> task, std::string_view name, int& running, Ended ended) {
    ++running;
    spawn(std::move(task), [this, name, &running, ended = std::move(ended)](Outcome<void> outcome) mutable {
      if (outcome.exception) report(outcome.exception, name);
      --running;
      if (ended) ended(outcome.exception);
      notify_when_stopped();
    });
  }
  void report(const std::exception_ptr& fault, std::string_view name) {
    report_.log.error(report_.message, {{"task", name}, {"error", fault_text(fault)}});
    if (report_.metrics) report_.metrics->count(report_.counter);
  }
  void notify_when_stopped() {
    if (stopping_ && loops_ == 0 && jobs_ == 0 && stopped_) std::exchange(stopped_, {})();
  }

  Wakeup wakeup_;
  const FaultReport report_;
  int loops_ = 0;
  int jobs_ = 0;
  bool stopping_ = false;
  Callback stopped_;
};

}  // namespace presetbridge
