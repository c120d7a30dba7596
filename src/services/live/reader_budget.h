// How many may read live at one time (spec 8.6): each reader is an open connection.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace presetbridge::services {

// Thread-safe. In memory, of this process alone. Outlives the places that it gave.
class ReaderBudget {
 public:
  struct Share {
    std::string of;  // whoever shares it: an account, a network
    int most = 0;
  };
  // A reader's, until it is destroyed.
  class Place {
   public:
    Place(ReaderBudget& budget, std::vector<std::string> of) : budget_(&budget), of_(std::move(of)) {}
    Place(Place&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), of_(std::move(other.of_)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (budget_ != nullptr) budget_->give_back(of_);
    }

   private:
    ReaderBudget* budget_;
    std::vector<std::string> of_;
  };

  explicit ReaderBudget(int most) : most_(most) {}

  // Nothing where one of the shares, or the whole, is used up.
  std::optional<Place> take(const std::vector<Share>& shares) {
    const std::scoped_lock lock(mutex_);
    if (readers_ >= most_) return std::nullopt;
    for (const auto& share : shares) {
      const auto known = taken_.find(share.of);
      if (known != taken_.end() && known->second >= share.most) return std::nullopt;
    }
    std::vector<std::string> of;
    for (const auto& share : shares) ++taken_[of.emplace_back(share.of)];
    ++readers_;
    return Place(*this, std::move(of));
  }
  int readers() const {
    const std::scoped_lock lock(mutex_);
    return readers_;
  }

 private:
  void give_back(const std::vector<std::string>& of) {
    const std::scoped_lock lock(mutex_);
    --readers_;
    for (const auto& key : of) {
      const auto known = taken_.find(key);
      if (--known->second == 0) taken_.erase(known);
    }
  }

  const int most_;
  mutable std::mutex mutex_;  // guards readers_ and taken_
  int readers_ = 0;
  std::map<std::string, int> taken_;
};

}  // namespace presetbridge::services
