// Accounts that the operator has disabled. Its people and keys are answered 403; what its stores send is
// stored as of inactive stores, so that nothing is lost, and can be processed when it is enabled again; what
// was accepted before goes on. Every node keeps a copy of the list, so that asking costs the database
// nothing; what another node changed counts here within kMaxAge.
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

  // As it was kMaxAge ago or later; while the database does not answer, as it was last read. Errors: as of
  // AsyncDatabase, where it never was.
  Task<Expected<bool>> holds(Executor& executor, AccountId account);

  // The operator's, who is called `name`, noted in the account's audit log. Returns whether that changed
  // anything. NOT_FOUND; VALIDATION_FAILED: a reason of more than 500 bytes, or too many accounts are
  // disabled.
  Task<Expected<bool>> disable(Executor& executor, AccountId account, std::string reason,
                               std::string name = {});
  Task<Expected<bool>> enable(Executor& executor, AccountId account, std::string name = {});

  // FORBIDDEN, the answer to its people and keys; errors of holds().
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
  bool reading_ = false;  // somebody reads it anew; others go by what there is
};

}  // namespace presetbridge::services
