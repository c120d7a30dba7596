#include "services/accounts/limited_requests.h"

#include "storage/stores/activity_store.h"

namespace presetbridge::services {

Task<void> LimitedRequests::count(Executor& executor, AccountId account, ApiKeyId key, Timestamp at) {
  bool due = false;
  {
    const std::lock_guard lock(mutex_);
    const std::pair place{key, storage::quarter_of(at)};
    if (gathered_.contains(place) || gathered_.size() < kMostKeys) {
      auto& [of, requests] = gathered_[place];
      of = account;
      ++requests;
    }
    // A clock that was put back does not keep it from writing for longer than that.
    due = !written_at_ || at >= *written_at_ + kPeriod || at < *written_at_ - kPeriod;
    if (due) written_at_ = at;
  }
  if (due) co_await flush(executor);
}

Task<void> LimitedRequests::flush(Executor& executor) {
  Gathered taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(gathered_);
  }
  if (taken.empty()) co_return;
  const auto written = co_await async_db_.write(executor, [&](storage::Tx& tx) {
    for (const auto& [place, of] : taken)
      count_activity(tx, {of.first, {}, place.first}, storage::Activity::limited, of.second, place.second);
  });
  if (!written) add(taken);
}

void LimitedRequests::add(const Gathered& more) {
  const std::lock_guard lock(mutex_);
  for (const auto& [place, of] : more) {
    if (!gathered_.contains(place) && gathered_.size() >= kMostKeys) continue;
    auto& [account, requests] = gathered_[place];
    account = of.first;
    requests += of.second;
  }
}

}  // namespace presetbridge::services
