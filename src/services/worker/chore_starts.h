// When chores may begin. A transaction that read the login or the credits of an account before a chore's
// cause was committed may commit deliveries after it: a chore that went through the list between the two
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
#include "storage/stores/chore_store.h"

namespace presetbridge::services {

class ChoreStarts {
 public:
  // Takes those out of `chores` that may not begin yet; `writers` as they are under way now
  // (storage::order_writers), read after the chores.
  void hold_back(std::vector<storage::Chore>& chores, const std::set<std::string>& writers, Timestamp now) {
    std::map<Key, Start> seen;
    std::erase_if(chores, [&](const storage::Chore& chore) {
      if (chore.done_to) return false;
      const Key key{chore.account, chore.kind, chore.generation};
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
  using Key = std::tuple<AccountId, storage::ChoreKind, std::int64_t>;
  struct Start {
    std::set<std::string> writers;  // that were there when it was first seen, and are still
    Timestamp since;
  };
  std::map<Key, Start> starts_;
};

}  // namespace presetbridge::services
