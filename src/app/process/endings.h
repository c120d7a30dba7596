// Waiting for what ends on other threads.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "base/time.h"

namespace presetbridge::app {

// Something that happens once, and is waited for by another thread.
class Signal {
 public:
  void give() {
    const std::lock_guard lock(mutex_);
    given_ = true;
    changed_.notify_all();
  }
  bool wait_for(Millis most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [this] { return given_; });
  }

 private:
  std::mutex mutex_;  // guards given_
  std::condition_variable changed_;
  bool given_ = false;
};

// Parts of the service that were asked to stop. One thread at a time adds and waits; it outlives the parts'
// answers.
class Endings {
 public:
  // A part calls the function once it has ended. `problem`: a literal; wait() returns it if the part did not
  // end.
  std::function<void()> add(const char* problem) {
    auto& part = parts_.emplace_back(problem);
    return [&part] { part.ended.give(); };
  }
  // Waits for each, as long as `left` says then; the problems of those that did not end.
  std::vector<const char*> wait(const std::function<Millis()>& left) {
    std::vector<const char*> problems;
    for (auto& part : parts_) {
      if (!part.ended.wait_for(left())) problems.push_back(part.problem);
    }
    return problems;
  }

 private:
  struct Part {
    explicit Part(const char* the_problem) : problem(the_problem) {}
    const char* problem;
    Signal ended;
  };
  std::deque<Part> parts_;  // their addresses stay
};

}  // namespace presetbridge::app
