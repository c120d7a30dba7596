#include "net/key_budget.h"

#include <algorithm>
#include <utility>

namespace presetbridge::net {

void KeyBudget::forget_old(Timestamp now) {
  const bool set_back = now < turned_at_;
  if (recent_.size() < limits_.keys / 2 && !set_back && now < turned_at_ + limits_.window) return;
  former_ = std::exchange(recent_, {});
  turned_at_ = now;
  any_ = !former_.empty();
}

Millis KeyBudget::wait(const std::string& key) {
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  auto found = recent_.find(key);
  if (found == recent_.end()) {
    found = former_.find(key);
    if (found == former_.end()) return Millis{0};
  }
  const auto used = std::min(found->second - now, limits_.window);  // of a clock that was set back: no longer
  return std::max(used + limits_.window / limits_.times - limits_.window, Millis{0});
}

void KeyBudget::count(std::string key) {
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  any_ = true;
  auto known = former_.extract(key);
  auto& whole_at = recent_.try_emplace(std::move(key), known ? known.mapped() : now).first->second;
  whole_at = std::min(std::max(whole_at, now) + limits_.window / limits_.times, now + limits_.window);
}

void KeyBudget::give_back(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  for (auto* keys : {&recent_, &former_}) {
    const auto found = keys->find(key);
    if (found != keys->end()) found->second -= limits_.window / limits_.times;
  }
}

std::size_t KeyBudget::keys() const {
  const std::scoped_lock lock(mutex_);
  return recent_.size() + former_.size();
}

}  // namespace presetbridge::net
