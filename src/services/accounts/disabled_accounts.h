// Accounts that the operator has disabled. The people and keys of such an account are answered 403; orders
// of its stores are stored as those of inactive stores, so that none is lost, and can be processed once it
// is enabled again; orders accepted before are still delivered. Every node has a copy of the list, so that
// most checks cost the database nothing; a change by another node takes effect here within kMaxAge.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// Thread-safe. Outlives the coroutines that wait in it.
class DisabledAccounts {
 public:
  static constexpr Millis kMaxAge{2'000};

  // All outlive this.
  DisabledAccounts(storage::AsyncDatabase& async_db, IdSource& ids, const Clock& clock)
      : async_db_(async_db), ids_(ids), clock_(clock) {}

  // Whether `account` is disabled, as of kMaxAge ago or later; while the database does not answer, as of
  // the last read. Errors of AsyncDatabase, until a first read succeeds.
  Task<Expected<bool>> holds(Executor& executor, AccountId account);

  // For the operator, whom the account's audit log calls `name`. Return whether they changed anything.
  // NOT_FOUND; VALIDATION_FAILED: `reason` has more than 500 bytes, or too many accounts are disabled.
  Task<Expected<bool>> disable(Executor& executor, AccountId account, std::string reason,
                               std::string name = {});
  Task<Expected<bool>> enable(Executor& executor, AccountId account, std::string name = {});

  // FORBIDDEN, the answer to its people and keys, if it is disabled; errors of holds().
  Task<Expected<void>> admit(Executor& executor, AccountId account);

 private:
  using List = std::shared_ptr<const std::vector<AccountId>>;
  Task<Expected<bool>> change(Executor& executor, AccountId account, bool disabled, std::string reason,
                              std::string name);

  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  const Clock& clock_;
  std::mutex mutex_;  // guards all below
  List list_;         // null: never read
  Timestamp read_at_{};
  std::uint64_t changes_ = 0;
  bool reading_ = false;  // one caller reads the list; others use list_ meanwhile
};

}  // namespace presetbridge::services
