// AsyncDatabase: how coroutines reach the Database. Units of work are queued; a writer thread takes all that
// wait, runs them in ONE transaction and commits once, so a thousand callers share one fsync. Where the
// engine leaves the syncing to its user, another thread does it while the next transaction runs; a caller gets
// success when its unit is on disk (spec 2.5). With PostgreSQL, whose transactions wait for each other's rows,
// a transaction has one unit: several would take their locks in the order in which they happened to be queued.
//
//   auto id = co_await async_db.write(executor, [order](Tx& tx) { return insert(tx, order); });
//   // id is an Expected<OrderId>
//
// The function of a unit runs on a storage thread while its coroutine sleeps. It may run several times
// (another unit of its transaction threw, a conflict): it must overwrite, not append to, what it captures;
// write() and read() return the result of the run that was committed. To roll back its own effects, and only its
// own, it throws: an `Error` thrown reaches the caller as it is; anything else is logged and reaches the caller
// as INTERNAL_ERROR, or as STORAGE_UNAVAILABLE or OVERLOADED when a later attempt can help. A returned Expected
// error does NOT roll back. With a full queue the answer is OVERLOADED at once, and the unit never runs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/task.h"
#include "storage/commit/trouble_log.h"
#include "storage/database.h"

namespace presetbridge::storage {

// The queue is full, or accepts no units any more: the unit never ran.
class Overloaded : public DbError {
 public:
  explicit Overloaded(const std::string& message) : DbError(Kind::unavailable, message) {}
};

// The Error that a caller gets for an exception of its unit: see above.
Error explain(const std::exception_ptr& exception);
// A DbError of kind unavailable, Overloaded included.
bool is_unavailable(const std::exception_ptr& exception);
// A DbError of kind busy.
bool is_busy(const std::exception_ptr& exception);
// Whether an error of write() or read() is logged already, for all callers at once (trouble_log.h). A caller who
// logs it again at each attempt would flood the log.
inline bool is_logged(const Error& error) {
  return error.code == "STORAGE_UNAVAILABLE";
}

// Callbacks gathered for executors, so that each executor is posted to once, however many callbacks it runs.
class Completions {
 public:
  void add(Executor& executor, Callback callback);
  // Posts all, and then has none. The callbacks of one executor run in the order in which they were added.
  void post();

 private:
  // By executor. They are a handful, which a scan finds faster than a map.
  std::vector<std::pair<Executor*, std::vector<Callback>>> waiting_;
};

// Expected<T>, and Expected<U> when T is Expected<U> already.
template <class T>
struct AsExpected {
  using type = Expected<T>;
};
template <class U>
struct AsExpected<Expected<U>> {
  using type = Expected<U>;
};
template <class T>
using AsExpectedT = typename AsExpected<T>::type;

// Thread-safe. Outlives every coroutine that waits in it; the executors that calls name outlive it.
class AsyncDatabase {
 public:
  struct Options {
    int writers = 1;                 // threads; 1 for SQLite, as many as write connections for PostgreSQL
    int readers = 2;                 // threads
    std::size_t max_units = 256;     // units of one transaction; 1 for PostgreSQL
    std::size_t max_queue = 10'000;  // units waiting, for writes and for reads each
    // No threads: a unit runs inside the call that submits it, for simulation and for tests on one thread.
    // Completions are posted to the executor nevertheless.
    bool inline_execution = false;
    // For the log lines on trouble that lasts (trouble_log.h); outlives this.
    const Clock* clock = nullptr;
    // A write as large as an order's. While writes are in trouble it runs, alone, whenever no write has failed
    // for TroubleLog::kCalm, and nothing else ends the trouble: on a full disk small writes succeed. Needs
    // `clock`. Empty: any write that succeeds ends it.
    TxFn probe = {};
    // Gets the news of transactions that have some, once they are durable and their callers have been woken: on
    // a storage thread, perhaps on several at once. Must not throw or block.
    std::function<void(const News&)> on_news = {};
  };
  struct Stats {
    std::uint64_t commits = 0;  // transactions that stand
    std::uint64_t units = 0;    // units in them
    std::uint64_t failed = 0;   // units that were rolled back, refused, or not synced
  };
  // Runs once the unit's outcome is known, on the storage thread (or in the call, when refused), with the
  // exception that rolled it back, or with null when it is committed. Coroutines to resume are added to the
  // Completions, which are posted right after. Must not throw or block.
  using Done = std::move_only_function<void(std::exception_ptr, Completions&)>;

  AsyncDatabase(Database& database, Log& log, Options options);
  AsyncDatabase(Database& database, Log& log) : AsyncDatabase(database, log, Options{}) {}
  ~AsyncDatabase();  // shutdown()
  AsyncDatabase(const AsyncDatabase&) = delete;
  AsyncDatabase& operator=(const AsyncDatabase&) = delete;

  // Runs `fn` in a transaction shared with other units; resumes on `executor` after the commit. Fn: T(Tx&), T
  // may be void.
  template <class Fn>
  auto write(Executor& executor, Fn fn) -> Task<AsExpectedT<std::invoke_result_t<Fn&, Tx&>>> {
    return run(writes_, executor, std::move(fn));
  }
  // Runs `fn`, as write() has it, in a read-only transaction of its own; resumes on `executor`.
  template <class Fn>
  auto read(Executor& executor, Fn fn) -> Task<AsExpectedT<std::invoke_result_t<Fn&, Tx&>>> {
    return run(reads_, executor, std::move(fn));
  }

  // Queues a write without a coroutine. `done` gets a DbError, Overloaded among them, or any exception of `fn`.
  void submit(TxFn fn, Done done);
  // Queues a read without a coroutine. It runs before the reads that wait, so that no amount of them holds up
  // an order; but between two such units one of the others runs. max_queue does not limit them, since each
  // caller has one of them at a time.
  void submit_first_read(TxFn fn, Done done);

  // Refuses new units, runs those that wait, joins the threads. Idempotent; not to be called on a storage thread.
  void shutdown();

  Stats stats() const;
  // Whether writes fail for want of storage, or did, and since then no probe has succeeded (without a probe: no
  // write).
  bool writes_in_trouble() const { return writes_trouble_.failing(); }
  bool reads_in_trouble() const { return reads_trouble_.failing(); }

 private:
  struct Unit {
    TxFn fn;
    Done done;
    std::unique_ptr<News> news = {};  // of the whole transaction, in one of its units
  };
  struct Queue {
    std::deque<Unit> units;
    std::size_t first = 0;    // the number of those at the front that came by submit_first_read()
    bool took_first = false;  // the last one that was taken was one of them
    std::condition_variable filled;
  };

  // Suspends until the unit is done; resumes on `executor` with nothing, or with the Error that explain() makes
  // of its exception. The exception stays on the storage thread.
  struct Awaiter {
    AsyncDatabase& owner;
    Queue& queue;
    Executor& executor;
    TxFn fn;
    std::optional<Error> error;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller);
    std::optional<Error> await_resume() noexcept { return std::move(error); }
  };

  template <class Fn, class T = std::invoke_result_t<Fn&, Tx&>>
  Task<AsExpectedT<T>> run(Queue& queue, Executor& executor, Fn fn) {
    if constexpr (std::is_void_v<T>) {
      if (auto error = co_await Awaiter{*this, queue, executor, std::ref(fn), {}}) {
        co_return std::unexpected(std::move(*error));
      }
      co_return Expected<void>{};
    } else {
      std::optional<T> result;
      // Named: GCC and clang differ on when a closure in the awaiting expression dies.
      const TxFn unit = [&fn, &result](Tx& tx) {
        result.reset();
        result.emplace(fn(tx));
      };
      if (auto error = co_await Awaiter{*this, queue, executor, unit, {}}) {
        co_return std::unexpected(std::move(*error));
      }
      co_return std::move(*result);
    }
  }

  enum class Position { first, last };
  void enqueue(Queue& queue, Unit unit, Position position = Position::last);
  // Under the lock: takes up to `most` units from the front, or from behind the first ones when it is the turn
  // of the others.
  static std::vector<Unit> take(Queue& queue, std::size_t most);
  void work(Queue& queue, bool writes);
  // Under the lock: waits for a unit, for the shutdown, or for the time of the probe. Whether the thread has to
  // end.
  bool await(Queue& queue, std::unique_lock<std::mutex>& lock, bool writes);
  bool probe_is_due() const { return options_.probe && !probing_ && writes_trouble_.calm(); }
  void run_probe();
  void run_inline();
  // Commits the units, and those that gather() adds; finishes those that are durable or failed, and moves the
  // others to `unsynced`.
  void write_batch(std::vector<Unit>& batch, std::vector<Unit>& unsynced);
  bool gather(std::vector<Unit>& batch);
  void read_one(Unit& unit);
  void sync_loop();
  // Makes committed units durable and finishes them.
  void sync_units(std::span<Unit> units);
  // Counts the outcome of the units, logs it, and calls their `done`.
  void finish(std::span<Unit> units, const std::exception_ptr& thrown, bool wrote);
  // Gives the units' news to on_news.
  void report(std::span<const Unit> units) const;

  Database& database_;
  Log& log_;
  const Options options_;
  TroubleLog writes_trouble_;
  TroubleLog reads_trouble_;
  mutable std::mutex mutex_;  // guards all below
  Queue writes_;
  Queue reads_;
  Queue unsynced_;  // committed, and durable once the sync that begins after is done
  std::condition_variable synced_;
  int writing_ = 0;  // threads that may still add to unsynced_
  bool syncing_ = false;
  bool stopping_ = false;
  bool running_inline_ = false;
  bool probing_ = false;
  Stats stats_;
  std::vector<std::thread> threads_;
};

}  // namespace presetbridge::storage
