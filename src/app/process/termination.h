// SIGTERM and SIGINT, and the deadline of what follows (spec 12.3). A thread of its own waits for them, so
// that neither a busy event loop nor a busy main thread puts off when the time begins to run.
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace presetbridge::app {

// The first of them starts the deadline, the next ones change nothing. At the deadline the process ends with
// exit code 3, whatever it is at: leases then run out, and what was under way is looked up by whoever takes
// over. One line on standard error says what it was at, if standard error takes it.
class Termination {
 public:
  static constexpr int kStuck = 3;

  // Blocks both signals in this thread, and so in all that are started from it: make it before any other
  // thread. `clock` is for the log line, and outlives this.
  Termination(const Clock& clock, Millis deadline);
  // The stop has come to its end: nobody is ended any more. Both signals stay blocked.
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  // From here on a signal is an order to stop; before, it ends the process as it does where nobody catches
  // it.
  void serving();
  // Returns after a signal; which.
  int wait();
  // Since the signal came; 0 without one.
  Millis elapsed() const;
  // Names the current step of the stop, for the line at the deadline. `step` is a literal.
  void at(const char* step) { step_ = step; }

 private:
  void watch();
  [[noreturn]] void end() noexcept;

  const Clock& clock_;
  const Millis deadline_;
  mutable std::mutex mutex_;  // guards serving_, over_, signal_ and came_at_
  std::condition_variable changed_;
  bool serving_ = false;
  bool over_ = false;
  int signal_ = 0;
  std::chrono::steady_clock::time_point came_at_;
  std::atomic<const char*> step_ = "stopping";
  std::thread thread_;
};

}  // namespace presetbridge::app
