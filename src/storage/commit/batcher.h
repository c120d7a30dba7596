// Batcher: many coroutines each add one row's input; the rows that wait when the storage thread gets to them
// are given to one function in one transaction, so the SQL can be bulk. No timer: a batch is the rows that were
// added while the previous commit ran.
//
//   Batcher<NewOrder, Accepted> intake(async_db, accept_orders, {});
//   Expected<Accepted> accepted = co_await intake.add(executor, std::move(order));   // durable when it
//   returns
//
// When a batch of several rows throws, its halves run again, and theirs, until the row at fault is alone: it
// gets the error, the others are committed. A batch that waited too long for a lock runs again row by row at
// once; one that finds the database unavailable fails at once. With a full queue the answer is OVERLOADED.
//
// Rows may have owners (spec 8.6): the batches take rows from the owners in rotation, from each for `turn_bytes` of
// its rows. While others wait an owner has at most an eighth of the queue's rows and bytes; alone, all but an
// eighth. Beyond that its answer is OVERLOADED. The cost of a row may show only when it runs (a small event of a
// large order): a run postpones the rest once it has done much, and later rows of the owner are counted with
// what its last ones cost.
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
#include "storage/commit/async_database.h"

namespace presetbridge::storage {

struct BatcherOptions {
  std::size_t max_rows = 512;              // of one batch
  std::size_t max_bytes = 4 << 20;         // of one batch, as `weigh` counts; a single heavier row runs alone
  std::size_t max_queue = 10'000;          // rows waiting
  std::size_t max_queue_bytes = 64 << 20;  // bytes waiting, as `weigh` counts
  std::size_t turn_bytes = 64 << 10;       // that are taken from one owner before the next
};

// Thread-safe. Outlives the coroutines that wait in it, and is destroyed after AsyncDatabase::shutdown(). Out
// is default-constructible and movable. When Out is Expected<U>, add() returns Expected<U>.
template <class In, class Out>
class Batcher {
 public:
  using Result = AsExpectedT<Out>;
  // Fills outs[i] for ins[i]; both have one size, outs are default-constructed. May run again for these rows
  // after a roll back.
  using Run = std::function<void(Tx&, std::span<const In> ins, std::span<Out> outs)>;
  using Weigh = std::function<std::size_t(const In&)>;
  struct Sharing {
    std::function<std::uint64_t(const In&)> owner =
        {};  // empty: all rows are of one, who has the whole queue
    // The cost of a row that ran, in the bytes that `weigh` counts; empty: its weight.
    std::function<std::size_t(const Out&)> cost = {};
    // Whether the run postponed the row to a later run, without any effect. It does not postpone all of them.
    std::function<bool(const Out&)> postponed = {};
  };

  Batcher(AsyncDatabase& async_db, Run run, BatcherOptions options = {}, Weigh weigh = {},
          Sharing sharing = {})
      : async_db_(async_db),
        run_(std::move(run)),
        options_(options),
        weigh_(std::move(weigh)),
        sharing_(std::move(sharing)) {}
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // Resumes on `executor` after the commit, or with the row's error.
  Task<Result> add(Executor& executor, In in) {
    const std::size_t weight = weigh_ ? weigh_(in) : 0;
    const std::uint64_t whose = sharing_.owner ? sharing_.owner(in) : 0;
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
    const std::size_t weight;
    const std::uint64_t whose;
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
    std::size_t allowance = 0;  // bytes that may still be taken before the next owner's rows
  };
  struct Rows {
    std::vector<In> ins;
    std::vector<Out> outs;
    std::vector<Waiter*> waiters;
  };
  // The work of one unit of AsyncDatabase: `count` of `rows`, from `begin` on. A part without rows takes them from
  // the queue when it first runs; a run after a roll back has these rows again.
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
      const Load its = own == owners_.end() ? Load{} : Load{own->second->waiters.size(), own->second->bytes};
      refused =
          exceeds(queued_, waiter.weight, 1, 1) || (sharing_.owner && exceeds_share(its, waiter.weight));
      if (!refused) {
        auto& line = line_of(waiter.whose);
        line.waiters.push_back(&waiter);
        count_in(line, waiter);
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

  Line& line_of(std::uint64_t whose) {
    const auto own = owners_.find(whose);
    if (own != owners_.end()) return *own->second;
    const auto line = lines_.insert(lines_.end(), Line{.whose = whose, .allowance = options_.turn_bytes});
    owners_.emplace(whose, line);
    return *line;
  }
  void count_in(Line& line, const Waiter& waiter) {
    line.bytes += waiter.weight;
    ++queued_.rows;
    queued_.bytes += waiter.weight;
  }
  std::size_t beyond(std::uint64_t whose) const {
    const auto found = beyond_.find(whose);
    return found == beyond_.end() ? 0 : found->second;
  }
  // The owner's cost beyond its rows' weight rises at once, and falls by an eighth a row. It counts where rows are
  // taken for a batch, not where they are queued: a merchant whose event met a slow disk is not refused.
  void learn(const Waiter& waiter, std::size_t cost) {
    const std::size_t more = std::min(cost - std::min(cost, waiter.weight), kMostTurns * options_.turn_bytes);
    const std::size_t now = std::max(more, beyond(waiter.whose) / 8 * 7);
    if (now == 0) {
      beyond_.erase(waiter.whose);
    } else {
      if (beyond_.size() >= kMostLearned) beyond_.clear();
      beyond_[waiter.whose] = now;
    }
  }

  // Whether one row more would be more than `parts` of `of` equal parts of the queue. Without a row before it any
  // row is accepted: one that is heavier than the limit could else never be queued.
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
    async_db_.submit([this, shared](Tx& tx) { run(*shared, tx); },
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
      const std::size_t cost = next.weight + beyond(line.whose);
      if (line.allowance < cost && lines_.size() > 1) {
        line.allowance += options_.turn_bytes;
        lines_.splice(lines_.end(), lines_, lines_.begin());
        continue;
      }
      if (!rows->waiters.empty() && bytes + cost > max_bytes) break;
      line.allowance -= std::min(line.allowance, cost);
      bytes += cost;
      queued_.bytes -= next.weight;
      rows->waiters.push_back(&next);
      rows->ins.push_back(std::move(next.in));
      line.waiters.pop_front();
      line.bytes -= next.weight;
      if (line.waiters.empty()) {
        owners_.erase(line.whose);
        lines_.pop_front();
      }
    }
    queued_.rows -= rows->waiters.size();
    scheduled_ = !lines_.empty();
    rows->outs.resize(rows->ins.size());
    part.count = rows->ins.size();
    part.rows = std::move(rows);
    return scheduled_;
  }

  void finish(Part& part, const std::exception_ptr& thrown, Completions& completions) {
    // Refused before it ran: no other part is scheduled for the queue.
    if (!part.rows) take(part, static_cast<std::size_t>(-1), static_cast<std::size_t>(-1));
    if (thrown && part.count > 1 && is_busy(thrown)) {
      // Each alone, so that the lock that was waited for in vain is waited for once more, not by each half.
      for (std::size_t i = 0; i < part.count; ++i) schedule({part.rows, part.begin + i, 1});
      return;
    }
    if (thrown && part.count > 1 && !is_unavailable(thrown)) {
      const std::size_t half = part.count / 2;
      schedule({part.rows, part.begin, half});
      schedule({part.rows, part.begin + half, part.count - half});
      return;
    }
    if (!thrown && settle(part)) schedule({});
    for (std::size_t i = part.begin; i < part.begin + part.count; ++i) {
      Waiter* const waiter = part.rows->waiters[i];
      if (waiter == nullptr) continue;
      if (thrown) {
        waiter->finish(std::unexpected(explain(thrown)), completions);
      } else {
        waiter->finish(std::move(part.rows->outs[i]), completions);
      }
    }
  }

  // Learns the cost of the rows, and puts those that were postponed back into the queue, with null for their waiters
  // in `part`; true if a part must be scheduled for them.
  bool settle(Part& part) {
    if (!sharing_.cost && !sharing_.postponed) return false;
    const std::lock_guard lock(mutex_);
    bool back = false;
    const auto postponed = [&](std::size_t i) {
      return sharing_.postponed && sharing_.postponed(part.rows->outs[i]);
    };
    for (std::size_t i = part.begin; sharing_.cost && i < part.begin + part.count; ++i) {
      if (!postponed(i)) learn(*part.rows->waiters[i], sharing_.cost(part.rows->outs[i]));
    }
    for (std::size_t i = part.begin + part.count; i-- > part.begin;) {
      if (!postponed(i)) continue;
      Waiter& waiter = *std::exchange(part.rows->waiters[i], nullptr);
      waiter.in = std::move(part.rows->ins[i]);
      auto& line = line_of(waiter.whose);
      line.waiters.push_front(&waiter);
      count_in(line, waiter);
      back = true;
    }
    return back && !std::exchange(scheduled_, true);
  }

  static constexpr std::size_t kShares = 8;
  static constexpr std::size_t kMostLearned = 10'000;
  // The most that is learned of an owner, in turn_bytes: its next row waits for so many rotations at most.
  static constexpr std::size_t kMostTurns = 16;

  AsyncDatabase& async_db_;
  const Run run_;
  const BatcherOptions options_;
  const Weigh weigh_;
  const Sharing sharing_;
  mutable std::mutex mutex_;  // guards all below
  std::list<Line> lines_;     // the owner whose rows are taken next first
  std::unordered_map<std::uint64_t, typename std::list<Line>::iterator> owners_;
  // For owners whose rows cost more than they weigh: how much more.
  std::unordered_map<std::uint64_t, std::size_t> beyond_;
  Load queued_;
  bool scheduled_ = false;  // a part that will take from the queue is scheduled
};

}  // namespace presetbridge::storage
