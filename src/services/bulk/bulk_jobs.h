// One action on all that a filter finds (spec 9.3, 9.4), as a job that goes on after a crash: each of them is
// done in one transaction with the job's progress, so once, whichever nodes work on it. Oldest first; what
// came after the job was asked for is not meant.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/task.h"
#include "identity/principal.h"
#include "storage/commit/async_database.h"
#include "storage/stores/bulk_store.h"

namespace presetbridge::services {

inline constexpr std::int64_t kMostBulkJobs = 5;       // of an account, under way
inline constexpr std::size_t kMostBulkFailures = 100;  // that are listed; all are counted

// The action of the jobs of one name. Thread-safe.
class BulkAction {
 public:
  // Does it to the one that was prepared, in the job's transaction. An Error returned: it is refused, and
  // nothing was changed; thrown: the same, after a roll-back. Nothing returned: it has to be prepared again.
  using Do = std::function<std::optional<Expected<void>>(storage::Tx&)>;
  struct Found {
    std::vector<std::int64_t> ids;
    std::optional<std::int64_t> next;  // where the next search goes on; nothing: there are no more
  };

  virtual ~BulkAction() = default;
  virtual std::string_view name() const = 0;
  // The next after job.done_to, of at most `limit` scanned rows, in the order of their ids. An Error thrown
  // that is not the storage's ends the job: its targets cannot be found any more.
  virtual Found find(storage::Tx& tx, const storage::BulkJobRow& job, int limit) const = 0;
  // Reads the data of one target that is needed before the transaction.
  virtual Task<Expected<Do>> prepare(Executor& executor, const storage::BulkJobRow& job, std::int64_t id) = 0;
  // Whether the job ends with its caller: when the key is deactivated, expires, or loses the permission or a store,
  // or the person leaves the account.
  virtual bool ends_with_its_caller() const { return true; }
  // `id` as the API writes it.
  virtual std::string id_text(std::int64_t id) const = 0;
};

struct NewBulkJob {
  std::string_view action;
  std::string filter;  // JSON, as the action reads it
  Timestamp as_of;
  std::int64_t total = 0;
  bool total_is_exact = true;
  std::optional<std::int64_t> eligible = {};  // nothing: all
  std::string excluded = "[]";                // JSON
};

// Thread-safe.
class BulkJobs {
 public:
  // All outlive this. `asked` is called, on any thread, when there is a new job.
  BulkJobs(storage::AsyncDatabase& async_db, IdSource& ids, Callback asked)
      : async_db_(async_db), ids_(ids), asked_(std::move(asked)) {}

  // LIMIT_REACHED: the account has kMostBulkJobs under way.
  Task<Expected<storage::BulkJobRow>> add(Executor& executor, identity::Principal by, NewBulkJob wanted);
  // NOT_FOUND for another account's, and for one that reaches beyond the key's scope.
  Task<Expected<storage::BulkJobRow>> get(Executor& executor, identity::Principal by, BulkJobId id);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Callback asked_;
};

// The loop that does them, 200 of a job and then the next job's. Lives on `scheduler`, where all of it but
// wake() is called. Nodes may do it at once; a job of an action that this program does not know waits for one
// that does.
class BulkWorker {
 public:
  // All outlive this. `changed` is called when there may be new work for the delivery worker.
  BulkWorker(Scheduler& scheduler, storage::AsyncDatabase& async_db, Log& log,
             std::vector<BulkAction*> actions, std::function<void()> changed)
      : scheduler_(scheduler),
        async_db_(async_db),
        log_(log),
        actions_(std::move(actions)),
        changed_(std::move(changed)),
        tasks_(scheduler, {.log = log, .message = "jobs on many have ended by a fault"}) {}

  void start();
  // `stopped` is called once, when the one under way has ended.
  void stop(Callback stopped);
  // Any thread: there may be a job.
  void wake() { tasks_.wake(); }

 private:
  enum class Step { went_on, elsewhere, failed };  // elsewhere: another node was faster

  Task<void> loop();
  Task<Step> turn(BulkJobId id);
  Task<Step> one(BulkAction& action, storage::BulkJobRow& job, std::int64_t id);
  Task<Step> advance(storage::BulkJobRow& job, std::optional<std::int64_t> next);
  // Ends the job before it is done. `fault`: why, for its account.
  Task<Step> give_up(const storage::BulkJobRow& job, const char* fault);
  BulkAction* action_of(const storage::BulkJobRow& job) const;

  Scheduler& scheduler_;
  storage::AsyncDatabase& async_db_;
  Log& log_;
  const std::vector<BulkAction*> actions_;
  const std::function<void()> changed_;
  BulkJobId last_;  // whose turn it was; none: a round begins
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
