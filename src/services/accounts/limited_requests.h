// Requests of API keys that were over their limit, for the usage (spec 6.4): gathered in memory, as a refused
// request writes nothing of its own, and written together. A node that dies loses its unwritten counts: those
// of five seconds at most where its keys go on being refused.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "base/time.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// Thread-safe.
class LimitedRequests {
 public:
  explicit LimitedRequests(storage::AsyncDatabase& async_db) : async_db_(async_db) {}

  // Counts one, and writes all that is gathered if that was last done kPeriod ago.
  Task<void> count(Executor& executor, AccountId account, ApiKeyId key, Timestamp at);
  // Writes what is gathered; a failure leaves it for the next time.
  Task<void> flush(Executor& executor);

 private:
  static constexpr Millis kPeriod{5'000};
  static constexpr std::size_t kMostKeys = 10'000;  // others are not counted until the next writing
  using Gathered = std::map<std::pair<ApiKeyId, Timestamp>, std::pair<AccountId, std::int64_t>>;

  void add(const Gathered& more);

  storage::AsyncDatabase& async_db_;
  std::mutex mutex_;   // guards gathered_ and written_at_
  Gathered gathered_;  // by key and quarter
  std::optional<Timestamp> written_at_;
};

}  // namespace presetbridge::services
