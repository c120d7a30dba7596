// When account tasks may begin. A transaction that read the login or the credits of an account before an account task's
// cause was committed may commit deliveries after it: an account task that went through the list between the two
// would miss them for ever. So one begins when all have ended that were under way when it was first seen.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "storage/stores/account_task_store.h"

namespace presetbridge::services {

class AccountTaskStarts {
 public:
  // Takes those out of `tasks` that may not begin yet; `writers` as they are under way now
  // (storage::order_writers), read after the account tasks.
  void hold_back(std::vector<storage::AccountTask>& tasks, const std::set<std::string>& writers,
                 Timestamp now) {
    std::map<Key, Start> seen;
    std::erase_if(tasks, [&](const storage::AccountTask& task) {
      if (task.done_to) return false;
      const Key key{task.account, task.kind, task.generation};
      const auto before = starts_.find(key);
      Start start = before == starts_.end() ? Start{writers, now} : std::move(before->second);
      std::erase_if(start.writers, [&](const auto& one) { return !writers.contains(one); });
      const bool held = !start.writers.empty();
      seen.emplace(key, std::move(start));
      return held;
    });
    starts_ = std::move(seen);
  }

  int held() const {
    return static_cast<int>(
        std::ranges::count_if(starts_, [](const auto& one) { return !one.second.writers.empty(); }));
  }
  // How long the one of them waits that waits longest; nothing where none does.
  std::optional<Millis> waited(Timestamp now) const {
    std::optional<Millis> longest;
    for (const auto& [key, start] : starts_) {
      if (!start.writers.empty()) longest = std::max(longest.value_or(Millis{0}), now - start.since);
    }
    return longest;
  }

 private:
  using Key = std::tuple<AccountId, storage::AccountTaskKind, std::int64_t>;
  struct Start {
    std::set<std::string> writers;  // that were there when it was first seen, and are still
    Timestamp since;
  };
  std::map<Key, Start> starts_;
};

}  // namespace presetbridge::services
