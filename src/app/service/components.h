// Parts of the service that work in the background: a list of them, which starts each on its core and ends
// them in the opposite order.
#pragma once

#include <deque>
#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "app/process/endings.h"
#include "net/runtime.h"

namespace presetbridge::app {

// One thread at a time uses it. The parts and the runtime outlive it.
class Components {
 public:
  explicit Components(net::Runtime& runtime) : runtime_(runtime) {}

  // `part` has start() and stop(Callback), which are called on `core`. `problem`: a literal that says that
  // the part did not end.
  template <class Part>
  void add(int core, Part& part, const char* problem) {
    all_.push_back({core, [&part] { part.start(); },
                    [&part](std::function<void()> ended) { part.stop(std::move(ended)); }, problem});
  }
  // Starts all, in the order in which they were added. The runtime's threads run.
  void start() {
    for (const auto& one : all_) runtime_.run_on(one.core, one.start);
    started_ = true;
  }
  // Asks those that were started to stop, the last first.
  void stop() {
    if (!std::exchange(started_, false)) return;
    for (const auto& one : std::views::reverse(all_))
      runtime_.run_on(one.core, [&] { one.stop(endings_.add(one.problem)); });
  }
  // Waits for each that was asked, as long as `left` returns at that time. Returns the problems of those that
  // did not end.
  std::vector<const char*> wait(const std::function<Millis()>& left) { return endings_.wait(left); }

 private:
  struct Component {
    int core;
    std::function<void()> start;
    std::function<void(std::function<void()>)> stop;
    const char* problem;
  };
  net::Runtime& runtime_;
  std::deque<Component> all_;
  Endings endings_;
  bool started_ = false;
};

}  // namespace presetbridge::app
