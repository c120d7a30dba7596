#include "storage/commit/async_database.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <string>

namespace presetbridge::storage {
namespace {

// While there is trouble, a writer without work checks at this interval whether the probe is due.
constexpr std::chrono::seconds kCheckTrouble{1};

// The text of an exception for the log; empty for an Error, which is an answer and no fault.
std::string fault(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error&) {
    return {};
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

bool is_of(const std::exception_ptr& exception, DbError::Kind kind) {
  try {
    std::rethrow_exception(exception);
  } catch (const DbError& e) {
    return e.kind() == kind;
  } catch (...) {
    return false;
  }
}

}  // namespace

bool is_busy(const std::exception_ptr& exception) {
  return is_of(exception, DbError::Kind::busy);
}

bool is_unavailable(const std::exception_ptr& exception) {
  return is_of(exception, DbError::Kind::unavailable);
}

Error explain(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& e) {
    return e;
  } catch (const Overloaded&) {
    return {"OVERLOADED", "The service is busy. Try again in a moment.", {}};
  } catch (const DbError& e) {
    if (e.kind() == DbError::Kind::unavailable) {
      return {"STORAGE_UNAVAILABLE", "The storage is not available. Try again later.", {}};
    }
    if (e.kind() == DbError::Kind::busy || e.kind() == DbError::Kind::conflict) {
      return {"OVERLOADED", "The service is busy. Try again in a moment.", {}};
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // INTERNAL_ERROR, as for every other fault.
  }
  return {"INTERNAL_ERROR", "Something went wrong here. It has been logged.", {}};
}

void Completions::add(Executor& executor, Callback callback) {
  auto found = std::ranges::find(waiting_, &executor, [](const auto& entry) { return entry.first; });
  if (found == waiting_.end()) found = waiting_.emplace(waiting_.end(), &executor, std::vector<Callback>());
  found->second.push_back(std::move(callback));
}

void Completions::post() {
  for (auto& [executor, callbacks] : waiting_) {
    executor->post([due = std::move(callbacks)]() mutable {
      for (Callback& callback : due) callback();
    });
  }
  waiting_.clear();
}

AsyncDatabase::AsyncDatabase(Database& database, Log& log, Options options)
    : database_(database),
      log_(log),
      options_(std::move(options)),
      writes_trouble_(log, options_.clock, "writes"),
      reads_trouble_(log, options_.clock, "reads") {
  if (options_.probe && options_.clock == nullptr) throw std::invalid_argument("the probe needs a clock");
  if (options_.inline_execution) return;
  writing_ = std::max(options_.writers, 1);
  for (int i = 0; i < writing_; ++i) threads_.emplace_back([this] { work(writes_, true); });
  threads_.emplace_back([this] { sync_loop(); });
  for (int i = 0; i < std::max(options_.readers, 1); ++i)
    threads_.emplace_back([this] { work(reads_, false); });
}

AsyncDatabase::~AsyncDatabase() {
  shutdown();
}

void AsyncDatabase::shutdown() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  writes_.filled.notify_all();
  reads_.filled.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void AsyncDatabase::submit(TxFn fn, Done done) {
  enqueue(writes_, {std::move(fn), std::move(done)});
}
void AsyncDatabase::submit_first_read(TxFn fn, Done done) {
  enqueue(reads_, {std::move(fn), std::move(done)}, Position::first);
}

void AsyncDatabase::Awaiter::await_suspend(std::coroutine_handle<> caller) {
  // The unit may be done, and *this gone, before enqueue returns.
  auto done = [this, caller, &on = executor](const std::exception_ptr& thrown, Completions& completions) {
    if (thrown) error = explain(thrown);
    completions.add(on, [caller] { caller.resume(); });
  };
  owner.enqueue(queue, {std::move(fn), std::move(done)});
}

void AsyncDatabase::enqueue(Queue& queue, Unit unit, Position position) {
  std::unique_lock lock(mutex_);
  const char* refusal = nullptr;
  if (stopping_) {
    refusal = "the storage is shutting down";
  } else if (position == Position::last && queue.units.size() >= options_.max_queue) {
    refusal = "the storage's queue is full";
  }
  if (refusal != nullptr) {
    ++stats_.failed;
    lock.unlock();
    Completions completions;
    unit.done(std::make_exception_ptr(Overloaded(refusal)), completions);
    completions.post();
    return;
  }
  if (position == Position::first) {
    queue.units.insert(queue.units.begin() + static_cast<std::ptrdiff_t>(queue.first++), std::move(unit));
  } else {
    queue.units.push_back(std::move(unit));
  }
  lock.unlock();
  if (options_.inline_execution) {
    run_inline();
  } else {
    queue.filled.notify_one();
  }
}

std::vector<AsyncDatabase::Unit> AsyncDatabase::take(Queue& queue, std::size_t most) {
  // After a unit that came first another one has its turn.
  const bool other = std::exchange(queue.took_first, false) && queue.first < queue.units.size();
  const auto begin = queue.units.begin() + static_cast<std::ptrdiff_t>(other ? queue.first : 0);
  const auto end = begin + static_cast<std::ptrdiff_t>(
                               std::min(static_cast<std::size_t>(queue.units.end() - begin), most));
  std::vector<Unit> taken(std::make_move_iterator(begin), std::make_move_iterator(end));
  queue.units.erase(begin, end);
  if (!other && queue.first > 0) {
    queue.took_first = true;
    queue.first -= std::min(queue.first, taken.size());
  }
  return taken;
}

void AsyncDatabase::work(Queue& queue, bool writes) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (await(queue, lock, writes)) break;
    if (writes && !stopping_ && probe_is_due()) {
      probing_ = true;
      lock.unlock();
      run_probe();
      lock.lock();
      probing_ = false;
    }
    if (queue.units.empty()) continue;
    auto batch = take(queue, writes ? options_.max_units : 1);
    lock.unlock();
    std::vector<Unit> unsynced;
    writes ? write_batch(batch, unsynced) : read_one(batch.front());
    batch.clear();  // destroys what the units captured before the lock is held
    lock.lock();
    if (unsynced.empty()) continue;
    // A disk that hangs stops the writers, so that the units that wait for it do not become ever more.
    synced_.wait(lock, [&] { return unsynced_.units.size() < options_.max_queue; });
    std::ranges::move(unsynced, std::back_inserter(unsynced_.units));
    unsynced_.filled.notify_one();
  }
  if (writes && --writing_ == 0) unsynced_.filled.notify_one();
}

bool AsyncDatabase::await(Queue& queue, std::unique_lock<std::mutex>& lock, bool writes) {
  while (queue.units.empty()) {
    if (stopping_) return true;
    if (!writes || !options_.probe || !writes_trouble_.failing()) {
      queue.filled.wait(lock);
    } else if (probe_is_due()) {
      return false;
    } else {
      queue.filled.wait_for(lock, kCheckTrouble);
    }
  }
  return false;
}

// Alone in its transaction: no other unit must fail because the probe is too large.
void AsyncDatabase::run_probe() {
  std::exception_ptr thrown;
  try {
    database_.write(options_.probe);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown && (is_unavailable(thrown) || is_busy(thrown))) {
    writes_trouble_.failed(fault(thrown));
    return;
  }
  // A fault of the probe itself shows nothing about the storage.
  if (thrown) log_.error("the write that probes the storage failed", {{"cause", fault(thrown)}});
  writes_trouble_.worked();
}

void AsyncDatabase::sync_loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    unsynced_.filled.wait(lock, [&] { return writing_ == 0 || !unsynced_.units.empty(); });
    if (unsynced_.units.empty()) return;
    auto units = take(unsynced_, unsynced_.units.size());
    syncing_ = true;
    lock.unlock();
    synced_.notify_all();
    sync_units(units);
    lock.lock();
    syncing_ = false;
    writes_.filled.notify_all();
    lock.unlock();
    report(units);
    units.clear();
    lock.lock();
  }
}

// Adds units that were queued meanwhile to a transaction that is open; false when it is to be committed. That is
// once the disk has done with the commits before it: a commit before that would only wait for the disk, and write
// the pages that both change twice.
bool AsyncDatabase::gather(std::vector<Unit>& batch) {
  std::unique_lock lock(mutex_);
  const auto disk_free = [&] { return stopping_ || (!syncing_ && unsynced_.units.empty()); };
  writes_.filled.wait(lock, [&] { return disk_free() || !writes_.units.empty(); });
  if (disk_free() || batch.size() >= options_.max_units) return false;
  std::ranges::move(take(writes_, options_.max_units - batch.size()), std::back_inserter(batch));
  return true;
}

void AsyncDatabase::sync_units(std::span<Unit> units) {
  std::exception_ptr thrown;
  try {
    database_.sync();
  } catch (...) {
    thrown = std::current_exception();
  }
  finish(units, thrown, true);
}

void AsyncDatabase::run_inline() {
  std::unique_lock lock(mutex_);
  if (running_inline_) return;  // called by a unit: the loop below takes what it queued
  running_inline_ = true;
  while (!writes_.units.empty() || !reads_.units.empty()) {
    const bool writes = !writes_.units.empty();
    auto batch = take(writes ? writes_ : reads_, writes ? options_.max_units : 1);
    lock.unlock();
    std::vector<Unit> unsynced;
    writes ? write_batch(batch, unsynced) : read_one(batch.front());
    if (!unsynced.empty()) sync_units(unsynced);
    report(unsynced);
    batch.clear();
    if (writes && probe_is_due()) run_probe();
    lock.lock();
  }
  running_inline_ = false;
}

void AsyncDatabase::write_batch(std::vector<Unit>& batch, std::vector<Unit>& unsynced) {
  batch.reserve(options_.max_units);  // so that what gather() adds moves nothing
  std::vector<std::span<Unit>> todo{batch};
  // Only the first attempt may grow: afterwards there are spans of the batch.
  for (bool grows = true; !todo.empty(); grows = false) {
    std::span<Unit> part = todo.back();
    todo.pop_back();
    std::size_t at = 0;
    auto durability = Database::Durability::durable;
    std::exception_ptr thrown;
    News news;
    try {
      durability = database_.commit([&](Tx& tx) {
        for (at = 0; at < part.size() || (grows && gather(batch)); ++at) {
          if (grows) part = batch;
          part[at].fn(tx);
        }
        tx.conclude();
        news = std::move(tx.news());
      });
    } catch (...) {
      thrown = std::current_exception();
    }
    if (!thrown) {
      if (!news.empty()) part.back().news = std::make_unique<News>(std::move(news));
      const std::lock_guard lock(mutex_);
      ++stats_.commits;
    }
    if (!thrown && durability == Database::Durability::on_its_way) {
      std::ranges::move(part, std::back_inserter(unsynced));
      continue;
    }
    if (!thrown || part.size() == 1 || is_unavailable(thrown)) {
      finish(part, thrown, true);
      report(part);
      continue;
    }
    // A lock that one unit waited for in vain is no reason to fail the others, nor to wait for it again.
    if (at < part.size() && is_busy(thrown)) {
      finish(part.subspan(at, 1), thrown, true);
      if (at + 1 < part.size()) todo.push_back(part.subspan(at + 1));
      if (at > 0) todo.push_back(part.first(at));
      continue;
    }
    // The unit that threw runs again alone, between those before it, which succeeded, and those after it. When it
    // was the commit that threw, any unit may be at fault: halves. Last in, first out: units run in the order of
    // the queue.
    const bool known = at < part.size();
    const std::size_t left = known ? at : part.size() / 2;
    const std::size_t right = known ? at + 1 : left;
    if (right < part.size()) todo.push_back(part.subspan(right));
    if (known) todo.push_back(part.subspan(at, 1));
    if (left > 0) todo.push_back(part.first(left));
  }
}

void AsyncDatabase::read_one(Unit& unit) {
  std::exception_ptr thrown;
  try {
    database_.read(unit.fn);
  } catch (...) {
    thrown = std::current_exception();
  }
  finish(std::span(&unit, 1), thrown, false);
}

void AsyncDatabase::finish(std::span<Unit> units, const std::exception_ptr& thrown, bool wrote) {
  {
    const std::lock_guard lock(mutex_);
    if (thrown) {
      stats_.failed += units.size();
    } else if (wrote) {
      stats_.units += units.size();
    }
  }
  TroubleLog& trouble = wrote ? writes_trouble_ : reads_trouble_;
  if (!thrown) {
    if (!wrote || !options_.probe) trouble.worked();
  } else if (is_unavailable(thrown)) {
    trouble.failed(fault(thrown));
  } else if (const std::string text = fault(thrown); !text.empty()) {
    log_.error("a storage transaction failed",
               {{"units", static_cast<std::int64_t>(units.size())}, {"cause", text}});
  }
  Completions completions;
  for (Unit& unit : units) {
    if (thrown) unit.news.reset();  // it is not known whether the transaction stands
    unit.done(thrown, completions);
  }
  completions.post();
}

void AsyncDatabase::report(std::span<const Unit> units) const {
  if (!options_.on_news) return;
  for (const Unit& unit : units) {
    if (unit.news) options_.on_news(*unit.news);
  }
}

AsyncDatabase::Stats AsyncDatabase::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace presetbridge::storage
