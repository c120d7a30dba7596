// Work that threw and is left alone for a while, so that it holds up no other work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/time.h"

namespace presetbridge::services {

// Used on one thread.
template <class Key>
class Postponed {
 public:
  // The most that are remembered. One more drops the one whose time ends first, which is then tried early.
  static constexpr std::size_t kMost = 1'000;

  void add(const Key& key, Timestamp until) {
    if (until_.size() >= kMost && !until_.contains(key))
      until_.erase(std::ranges::min_element(until_, {}, [](const auto& one) { return one.second; }));
    until_[key] = until;
  }
  // Forgets those whose time has ended.
  void release(Timestamp now) {
    std::erase_if(until_, [now](const auto& one) { return one.second <= now; });
  }
  bool contains(const Key& key) const { return until_.contains(key); }
  const std::map<Key, Timestamp>& all() const { return until_; }
  int size() const { return static_cast<int>(until_.size()); }

 private:
  std::map<Key, Timestamp> until_;
};

}  // namespace presetbridge::services
