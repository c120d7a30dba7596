#include "net/network_budget.h"

#include <algorithm>
#include <utility>

namespace presetbridge::net {

void NetworkBudget::forget_old(Timestamp now) {
  const bool set_back = now < turned_at_;
  if (recent_.size() < limits_.networks / 2 && !set_back && now < turned_at_ + limits_.window) return;
  former_ = std::exchange(recent_, {});
  turned_at_ = now;
  any_ = !former_.empty();
}

Millis NetworkBudget::wait(const HttpRequest& request) {
  if (!any_.load(std::memory_order_relaxed)) return Millis{0};
  const auto caller = caller_of(request, proxies_);
  if (caller.for_others) return Millis{0};
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  auto found = recent_.find(caller.network);
  if (found == recent_.end()) {
    found = former_.find(caller.network);
    if (found == former_.end()) return Millis{0};
  }
  const auto used = std::min(found->second - now, limits_.window);  // of a clock that was set back: no longer
  return std::max(used + limits_.window / limits_.failures - limits_.window, Millis{0});
}

void NetworkBudget::count(const HttpRequest& request) {
  auto caller = caller_of(request, proxies_);
  if (caller.for_others) return;
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  any_ = true;
  auto known = former_.extract(caller.network);
  auto& whole_at = recent_.try_emplace(std::move(caller.network), known ? known.mapped() : now).first->second;
  whole_at = std::min(std::max(whole_at, now) + limits_.window / limits_.failures, now + limits_.window);
}

std::size_t NetworkBudget::networks() const {
  const std::scoped_lock lock(mutex_);
  return recent_.size() + former_.size();
}

}  // namespace presetbridge::net
