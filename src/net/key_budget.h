// How often something may happen for each of many keys that strangers choose: so many times at once, and they
// come back evenly over a window. Memory is bounded (spec 8.6).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/time.h"

namespace presetbridge::net {

// Thread-safe. In memory, of this process alone.
class KeyBudget {
 public:
  struct Limits {
    std::int64_t times = 0;  // 1 to the window's milliseconds
    Millis window{0};
    // Remembered at most. Beyond them those that were counted longest ago are forgotten, half at a time.
    std::size_t keys = 20'000;
  };
  // `clock` outlives this.
  KeyBudget(const Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

  // Whether one was counted in the last window or the one before; without a lock.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // How long until the next may be counted, the window at most; 0: now. Counts nothing.
  Millis wait(const std::string& key);
  // One more. Beyond the budget (of things that ran at once) it makes nobody wait longer.
  void count(std::string key);
  // One that was counted came to nothing.
  void give_back(const std::string& key);

  std::size_t keys() const;  // remembered at this moment

 private:
  using Keys = std::unordered_map<std::string, Timestamp>;  // to when all of the budget is there again
  void forget_old(Timestamp now);

  const Clock& clock_;
  const Limits limits_;
  mutable std::mutex mutex_;  // guards recent_, former_ and turned_at_
  // A key is in the map of its newest count. After a window in `former_` it has its whole budget again.
  Keys recent_;
  Keys former_;
  Timestamp turned_at_;
  std::atomic<bool> any_{false};
};

}  // namespace presetbridge::net
