// How many may use something at one time, in all and for each of those who share it (spec 8.6).
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace presetbridge {

// Thread-safe. In memory, of this process alone. Outlives the slots that it gave.
class SharedSlots {
 public:
  struct Share {
    std::string of;  // who shares: an account, a network
    int most = 0;
  };
  // One use, until it is destroyed.
  class Slot {
   public:
    Slot(SharedSlots& slots, std::vector<std::string> of) : slots_(&slots), of_(std::move(of)) {}
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)), of_(std::move(other.of_)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_ != nullptr) slots_->give_back(of_);
    }

   private:
    SharedSlots* slots_;
    std::vector<std::string> of_;
  };

  explicit SharedSlots(int most) : most_(most) {}

  // Nothing where one of the shares, or the whole, is used up.
  std::optional<Slot> take(const std::vector<Share>& shares) {
    const std::scoped_lock lock(mutex_);
    if (used_ >= most_) return std::nullopt;
    for (const auto& share : shares) {
      const auto known = taken_.find(share.of);
      if (known != taken_.end() && known->second >= share.most) return std::nullopt;
    }
    std::vector<std::string> of;
    for (const auto& share : shares) ++taken_[of.emplace_back(share.of)];
    ++used_;
    return Slot(*this, std::move(of));
  }
  int used() const {
    const std::scoped_lock lock(mutex_);
    return used_;
  }

 private:
  void give_back(const std::vector<std::string>& of) {
    const std::scoped_lock lock(mutex_);
    --used_;
    for (const auto& key : of) {
      const auto known = taken_.find(key);
      if (--known->second == 0) taken_.erase(known);
    }
  }

  const int most_;
  mutable std::mutex mutex_;  // guards used_ and taken_
  int used_ = 0;
  std::map<std::string, int> taken_;
};

}  // namespace presetbridge
