// The threads of the program: each runs one event loop ("core") for ever; what is put on a core runs there
// one callback after the other. Asio stays behind this header.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"

namespace presetbridge::net {

// UTC of the operating system, cut to milliseconds.
class SystemClock final : public Clock {
 public:
  Timestamp now() const override;
};

// Made before, and destroyed after, everything that uses its schedulers. Construction makes the process
// ignore SIGPIPE and SIGXFSZ: a peer that hangs up and a file at its limit are error codes here, never
// signals.
class Runtime {
 public:
  // cores: at least 1.
  explicit Runtime(int cores);
  // Stops at once if stop() was not called.
  ~Runtime();

  int cores() const { return static_cast<int>(cores_.size()); }
  // core: 0 .. cores()-1. Valid as long as the runtime. Work may be posted before start().
  Scheduler& scheduler(int core);

  // Starts the threads. Once.
  void start();

  // Calls `callback` on core 0 for each SIGTERM and SIGINT from now on. Once, before start(); nothing of that
  // sort is caught without it.
  void on_termination(std::function<void(int signal)> callback);

  // Lets the cores finish what is posted and waits until nothing is pending on them (timers and connections
  // count: stop the servers, clients and loops first), at most `drain`; then ends and joins the threads.
  // Callbacks that are left are never run. From a thread that is not a core; repeated calls do nothing.
  void stop(Millis drain = Millis{5'000});

  // Runs `work` on that core and waits until it has run; here, if the threads are not running. Not from a
  // core.
  void run_on(int core, const std::function<void()>& work);

  struct Core;  // asio_core.h: for net/ alone
  Core& core(int index) { return *cores_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<std::unique_ptr<Core>> cores_;
  std::function<void()> stop_signals_;
  bool running_ = false;
  std::mutex mutex_;  // guards running_cores_
  std::condition_variable ended_;
  int running_cores_ = 0;
};

}  // namespace presetbridge::net
