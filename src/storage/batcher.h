// Batcher: many coroutines each add one row's input; the rows that wait when the storage thread gets to them
// are handed to one function in one transaction, so the SQL can be bulk. No timer: a batch is what gathered
// while the previous commit ran.
//
//   Batcher<NewOrder, Accepted> intake(commits, accept_orders, {});
//   Expected<Accepted> accepted = co_await intake.add(executor, std::move(order));   // durable when it
//   returns
//
// When a batch of several rows throws, it is halved and tried again until the row at fault stands alone: it
// gets the error, the others are committed. One that waited too long for a lock is tried row by row at once;
// one that finds the database unavailable fails at once. A full queue answers OVERLOADED.
//
// Rows may have owners (spec 8.6): owners take turns, a row each, and the rows of one keep their order. While
// others wait an owner has at most an eighth of the queue's places and bytes; alone, all but an eighth.
// Beyond that he is answered OVERLOADED.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
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
  // Whose row it is; without the function all are of one owner, who has the whole queue.
  using OwnerOf = std::function<std::uint64_t(const In&)>;

  Batcher(GroupCommit& commits, Run run, BatcherOptions options = {}, Weigh weigh = {}, OwnerOf owner_of = {})
      : commits_(commits),
        run_(std::move(run)),
        options_(options),
        weigh_(std::move(weigh)),
        owner_of_(std::move(owner_of)) {}
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // Resumes on `executor` after the commit, or with the error that kept the row out.
  Task<Result> add(Executor& executor, In in) {
    const std::size_t weight = weigh_ ? weigh_(in) : 0;
    const std::uint64_t whose = owner_of_ ? owner_of_(in) : 0;
    co_return co_await Waiter{*this, executor, std::move(in), weight, whose, {}, {}};
  }

  // Rows that wait for a batch.
  std::size_t queued() const {
    const std::lock_guard lock(mutex_);
    return queued_.rows;
  }

 private:
  // A suspended add(): lives in its coroutine.
  struct Waiter {
    Batcher& owner;
    Executor& executor;
    In in;
    std::size_t weight;
    std::uint64_t whose;
    std::coroutine_handle<> caller;
    std::optional<Result> result;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) {
      caller = self;
      owner.enqueue(*this);  // *this may be gone when it returns
    }
    Result await_resume() { return std::move(*result); }
    void finish(Result with, Completions& completions) {
      result.emplace(std::move(with));
      completions.add(executor, [self = caller] { self.resume(); });
    }
  };
  struct Load {
    std::size_t rows = 0;
    std::size_t bytes = 0;
  };
  // The rows of one owner; never empty.
  struct Line {
    std::uint64_t whose = 0;
    std::deque<Waiter*> waiters;
    std::size_t bytes = 0;
  };
  struct Rows {
    std::vector<In> ins;
    std::vector<Out> outs;
    std::vector<Waiter*> waiters;
  };
  // What one unit of GroupCommit runs: `count` of `rows`, from `begin` on. Without rows it takes them from
  // the queue when it first runs, and keeps them: a run after a roll back does the same again.
  struct Part {
    std::shared_ptr<Rows> rows;
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  void enqueue(Waiter& waiter) {
    bool refused = false;
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      const auto own = owners_.find(waiter.whose);
      const bool waits = own != owners_.end();
      const Load its = waits ? Load{own->second->waiters.size(), own->second->bytes} : Load{};
      refused = exceeds(queued_, waiter.weight, 1, 1) || (owner_of_ && exceeds_share(its, waiter.weight));
      if (!refused) {
        const auto line = waits ? own->second : lines_.insert(lines_.end(), Line{.whose = waiter.whose});
        if (!waits) owners_.emplace(waiter.whose, line);
        line->waiters.push_back(&waiter);
        line->bytes += waiter.weight;
        ++queued_.rows;
        queued_.bytes += waiter.weight;
        first = !std::exchange(scheduled_, true);
      }
    }
    if (refused) {
      Completions completions;
      waiter.finish(std::unexpected(explain(std::make_exception_ptr(Overloaded("a batch's queue is full")))),
                    completions);
      completions.post();
    } else if (first) {
      schedule({});
    }
  }

  // Whether one row more would be more than `parts` of `of` equal ones of the queue. Without a row before it
  // any is taken: one that is heavier than the limit would else never get in.
  bool exceeds(const Load& load, std::size_t weight, std::size_t parts, std::size_t of) const {
    if (load.rows == 0) return options_.max_queue == 0;
    return load.rows + 1 > std::max<std::size_t>(options_.max_queue / of * parts, 1) ||
           load.bytes + weight > options_.max_queue_bytes / of * parts;
  }
  bool exceeds_share(const Load& its, std::size_t weight) const {
    const bool others_wait = queued_.rows > its.rows;
    return exceeds(its, weight, others_wait ? 1 : kShares - 1, kShares);
  }

  void schedule(Part part) {
    auto shared = std::make_shared<Part>(std::move(part));
    commits_.submit([this, shared](Tx& tx) { run(*shared, tx); },
                    [this, shared](const std::exception_ptr& thrown, Completions& completions) {
                      finish(*shared, thrown, completions);
                    });
  }

  void run(Part& part, Tx& tx) {
    if (!part.rows && take(part, options_.max_rows, options_.max_bytes)) schedule({});
    const std::span<Out> outs = std::span(part.rows->outs).subspan(part.begin, part.count);
    for (Out& out : outs) out = Out();
    run_(tx, std::span<const In>(part.rows->ins).subspan(part.begin, part.count), outs);
  }

  // Moves rows from the queue to `part`; true if some are left, and then another part must be scheduled.
  bool take(Part& part, std::size_t max_rows, std::size_t max_bytes) {
    auto rows = std::make_shared<Rows>();
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    while (!lines_.empty() && rows->waiters.size() < max_rows) {
      Line& line = lines_.front();
      Waiter& next = *line.waiters.front();
      if (!rows->waiters.empty() && bytes + next.weight > max_bytes) break;
      bytes += next.weight;
      rows->waiters.push_back(&next);
      rows->ins.push_back(std::move(next.in));
      line.waiters.pop_front();
      line.bytes -= next.weight;
      if (line.waiters.empty()) {
        owners_.erase(line.whose);
        lines_.pop_front();
      } else {
        lines_.splice(lines_.end(), lines_, lines_.begin());
      }
    }
    queued_.rows -= rows->waiters.size();
    queued_.bytes -= bytes;
    scheduled_ = !lines_.empty();
    rows->outs.resize(rows->ins.size());
    part.count = rows->ins.size();
    part.rows = std::move(rows);
    return scheduled_;
  }

  void finish(Part& part, const std::exception_ptr& thrown, Completions& completions) {
    // Refused before it ran: nobody else will come for the queue.
    if (!part.rows) take(part, static_cast<std::size_t>(-1), static_cast<std::size_t>(-1));
    if (thrown && part.count > 1 && is_busy(thrown)) {
      // Each alone: the row that was waited for in vain is to be waited for once more, not with each half.
      for (std::size_t i = 0; i < part.count; ++i) schedule({part.rows, part.begin + i, 1});
      return;
    }
    if (thrown && part.count > 1 && !is_unavailable(thrown)) {
      const std::size_t half = part.count / 2;
      schedule({part.rows, part.begin, half});
      schedule({part.rows, part.begin + half, part.count - half});
      return;
    }
    for (std::size_t i = part.begin; i < part.begin + part.count; ++i) {
      Waiter& waiter = *part.rows->waiters[i];
      if (thrown) {
        waiter.finish(std::unexpected(explain(thrown)), completions);
      } else {
        waiter.finish(std::move(part.rows->outs[i]), completions);
      }
    }
  }

  static constexpr std::size_t kShares = 8;

  GroupCommit& commits_;
  const Run run_;
  const BatcherOptions options_;
  const Weigh weigh_;
  const OwnerOf owner_of_;
  mutable std::mutex mutex_;
  std::list<Line> lines_;  // whose turn is next first
  std::unordered_map<std::uint64_t, typename std::list<Line>::iterator> owners_;
  Load queued_;
  bool scheduled_ = false;  // a part is under way that will take from the queue
};

}  // namespace presetbridge::storage
