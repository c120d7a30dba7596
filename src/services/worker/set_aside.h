// What is left alone for a while because it threw, so that it holds up nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/time.h"

namespace presetbridge::services {

template <class Key>
class SetAside {
 public:
  // Of more than that the one whose time is up next is tried early.
  static constexpr std::size_t kMost = 1'000;

  void put(const Key& key, Timestamp until) {
    if (until_.size() >= kMost && !until_.contains(key))
      until_.erase(std::ranges::min_element(until_, {}, [](const auto& one) { return one.second; }));
    until_[key] = until;
  }
  void forget_until(Timestamp now) {
    std::erase_if(until_, [now](const auto& one) { return one.second <= now; });
  }
  bool contains(const Key& key) const { return until_.contains(key); }
  const std::map<Key, Timestamp>& all() const { return until_; }
  int size() const { return static_cast<int>(until_.size()); }

 private:
  std::map<Key, Timestamp> until_;
};

}  // namespace presetbridge::services
