// The versions of integrations, asked for many at a time (spec 8.6): ids that come while a read is under way
// wait for the next one, so that the database never does more than one read of kMostIds keys for all of them,
// however many are made up, and one that exists waits for no more than those before it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "storage/commit/async_database.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {

// Thread-safe. Outlives the coroutines that wait in it, and is destroyed after AsyncDatabase::shutdown().
class IntegrationVersions {
 public:
  static constexpr std::size_t kMostIds = 512;  // of one read
  static constexpr std::size_t kMostWaiting = 10'000;

  explicit IntegrationVersions(storage::AsyncDatabase& async_db) : async_db_(async_db) {}
  IntegrationVersions(const IntegrationVersions&) = delete;
  IntegrationVersions& operator=(const IntegrationVersions&) = delete;

  // As it stands at the call or later. Resumes on `executor`. OVERLOADED when too many wait.
  Task<Expected<storage::IntegrationVersion>> find(Executor& executor, IntegrationId id);

 private:
  using Resume = std::function<void(Expected<storage::IntegrationVersion>)>;
  struct Waiting {
    IntegrationId id;
    Resume resume;
  };
  struct Batch {
    std::vector<Waiting> waiting;
    std::vector<storage::IntegrationVersion> found;
  };
  void enqueue(Waiting one);
  void read();
  // The next ones that wait, at most so many; whether others are left.
  bool take(Batch& batch, std::size_t most);

  storage::AsyncDatabase& async_db_;
  std::mutex mutex_;  // guards waiting_ and reading_
  std::deque<Waiting> waiting_;
  bool reading_ = false;
};

}  // namespace presetbridge::services
