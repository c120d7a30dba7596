// When account tasks may begin. A transaction that read an account's login or credits before the cause of a
// task was committed may commit deliveries after it. A task that had passed their ids by then would miss them
// for ever. So a task begins when all transactions have ended that were under way when it was first seen
// (docs/decisions/0007-account-tasks.md).
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

// Used on one thread. Its memory may be lost: tasks then wait for the transactions that are under way later.
class AccountTaskStarts {
 public:
  // Removes those of `tasks` that may not begin yet. A task that is not among `tasks` is forgotten.
  // `writers` are the transactions under way (storage::order_writers), read after `tasks`.
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

  // How many tasks wait.
  int held() const {
    return static_cast<int>(
        std::ranges::count_if(starts_, [](const auto& one) { return !one.second.writers.empty(); }));
  }
  // How long the task that waits longest has waited; nothing where none waits.
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
    std::set<std::string> writers;  // under way when the task was first seen, and still
    Timestamp since;
  };
  std::map<Key, Start> starts_;
};

}  // namespace presetbridge::services
