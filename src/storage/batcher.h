// Batcher: many coroutines each add one row's input; the rows that wait when the storage thread gets to them
// are handed to one function in one transaction, so the SQL can be bulk. No timer: a batch is what gathered
// while the previous commit ran.
//
//   Batcher<NewOrder, Accepted> intake(commits, accept_orders, {});
//   Expected<Accepted> accepted = co_await intake.add(executor, std::move(order));   // durable when it
//   returns
//
// When a batch of several rows throws, it is halved and tried again until the row at fault stands alone: it
// gets the error, the others are committed. (A database that is unavailable fails the batch at once.) A full
// queue answers OVERLOADED.
#pragma once

#include <algorithm>
#include <coroutine>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "storage/group_commit.h"

namespace presetbridge::storage {

struct BatcherOptions {
  std::size_t max_rows = 512;              // of one batch
  std::size_t max_bytes = 4 << 20;         // of one batch, as `weigh` counts; a single heavier row goes alone
  std::size_t max_queue = 10'000;          // rows waiting
  std::size_t max_queue_bytes = 64 << 20;  // bytes waiting, as `weigh` counts
};

// Thread-safe. Outlives the coroutines that wait in it, and is destroyed after GroupCommit::shutdown(). Out
// is default-constructible and movable. When Out is Expected<U>, add() returns Expected<U>.
template <class In, class Out>
class Batcher {
 public:
  using Result = AsExpectedT<Out>;
  // Fills outs[i] for ins[i]; both are of the same size, outs are fresh. May run again for the same rows
  // after a roll back.
  using Run = std::function<void(Tx&, std::span<const In> ins, std::span<Out> outs)>;
  using Weigh = std::function<std::size_t(const In&)>;

  Batcher(GroupCommit& commits, Run run, BatcherOptions options = {}, Weigh weigh = {});
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // Resumes on `executor` after the commit, or with the error that kept the row out.
  Task<Result> add(Executor& executor, In in);

  std::size_t queued() const;
};

}  // namespace presetbridge::storage
