#include "stepper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "storage/tx_driver.h"

namespace presetbridge::interleavings {

using storage::Param;
using storage::Row;
using storage::Sql;

namespace {

constexpr std::chrono::milliseconds kPollInterval{1};  // a statement that takes longer may wait for a lock
constexpr std::chrono::seconds kStuck{60};

int other(int actor) {
  return 1 - actor;
}

}  // namespace

std::string to_string(const Order& order) {
  if (order.seed) return fmt::format("{}:seed:{}", order.first, *order.seed);
  return fmt::format("{}:{}", order.first, fmt::join(order.runs, ","));
}

class SteppedDriver final : public storage::TxDriver {
 public:
  SteppedDriver(storage::Tx& inner, Stepper& stepper, int actor)
      : inner_(inner), stepper_(stepper), actor_(actor) {}

  bool others_write() const override { return inner_.others_write(); }
  std::int64_t exec(const Sql& sql, std::span<const Param> params) override {
    return stepped(sql, [&] { return inner_.exec_params(sql, params); });
  }
  void query(const Sql& sql, std::span<const Param> params, const RowFn& fn) override {
    stepped(sql, [&] {
      inner_.query_params(sql, params, [&](const Row& row) {
        stepper_.after(actor_);
        fn(row);
      });
    });
  }
  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    stepped(sql, [&] { inner_.exec_many(sql, width, flat); });
  }
  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    return stepped(sql, [&] { return inner_.insert_each(sql, width, flat); });
  }
  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    return stepped(sql, [&] { return inner_.update_each(sql, width, flat); });
  }
  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                  const EachRowFn& fn) override {
    stepped(sql, [&] {
      inner_.query_each(sql, width, flat, [&](std::size_t number, const Row& row) {
        stepper_.after(actor_);
        fn(number, row);
      });
    });
  }
  void exec_script(std::string_view text) override {
    const std::string script(text);
    stepped({script.c_str()}, [&] { inner_.exec_script(text); });
  }
  void lock_schema() override { inner_.lock_schema(); }

 private:
  template <class Statement>
  std::invoke_result_t<Statement&> stepped(const Sql& sql, Statement statement) {
    stepper_.before(actor_, sql.text);
    // What a row's function is given belongs to all: the first row ends the statement, too.
    struct End {
      SteppedDriver& driver;
      ~End() { driver.stepper_.after(driver.actor_); }
    } end{*this};
    return statement();
  }

  storage::Tx& inner_;
  Stepper& stepper_;
  const int actor_;
};

class SteppedDatabase final : public storage::Database {
 public:
  SteppedDatabase(std::unique_ptr<storage::Database> inner, Stepper& stepper, int actor,
                  presetbridge::testing::ManualClock& clock)
      : inner_(std::move(inner)), stepper_(stepper), actor_(actor), clock_(clock) {}

  Durability commit(const storage::TxFn& fn) override {
    bool again = false;
    struct End {
      SteppedDatabase& database;
      ~End() { database.stepper_.ended(database.actor_); }
    } end{*this};
    clock_.advance(Millis{1});
    return inner_->commit([&](storage::Tx& inner) {
      if (std::exchange(again, true)) stepper_.ended(actor_);
      SteppedDriver driver(inner, stepper_, actor_);
      storage::Tx tx(driver, inner.now());
      fn(tx);
      tx.conclude();
      stepper_.before(actor_, "COMMIT");
    });
  }
  void sync() override { inner_->sync(); }
  void read(const storage::TxFn& fn) override {
    clock_.advance(Millis{1});
    inner_->read([&](storage::Tx& inner) {
      SteppedDriver driver(inner, stepper_, actor_);
      storage::Tx tx(driver, inner.now());
      fn(tx);
    });
  }
  std::string_view engine() const override { return inner_->engine(); }

 private:
  std::unique_ptr<storage::Database> inner_;
  Stepper& stepper_;
  const int actor_;
  presetbridge::testing::ManualClock& clock_;
};

std::unique_ptr<storage::Database> Stepper::step(std::unique_ptr<storage::Database> database, int actor,
                                                 presetbridge::testing::ManualClock& clock) {
  return std::make_unique<SteppedDatabase>(std::move(database), *this, actor, clock);
}

Course Stepper::run(const Order& order, IsPoint is_point, std::array<std::function<void()>, kActors> bodies) {
  std::unique_lock lock(mutex_);
  order_ = order;
  is_point_ = std::move(is_point);
  next_ = 0;
  passed_ = 0;
  if (order.seed) {
    chance_.seed(*order.seed);
    constexpr std::array eagernesses{0.03, 0.1, 0.25, 0.5};
    eagerness_ = eagernesses[chance_() % eagernesses.size()];
  }
  turn_ = order.first;
  states_.fill(State::ready);
  course_ = {};
  active_ = true;
  std::vector<std::thread> threads;
  threads.reserve(kActors);
  for (int actor = 0; actor < kActors; ++actor)
    threads.emplace_back([this, actor, &bodies] { live(actor, bodies[static_cast<std::size_t>(actor)]); });
  watch(lock);
  active_ = false;
  lock.unlock();
  for (auto& thread : threads) thread.join();
  return std::move(course_);
}

void Stepper::live(int actor, const std::function<void()>& body) {
  {
    std::unique_lock lock(mutex_);
    await_turn(lock, actor);
  }
  std::exception_ptr thrown;
  try {
    body();
  } catch (...) {
    thrown = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  course_.thrown[static_cast<std::size_t>(actor)] = thrown;
  state(actor) = State::done;
  if (state(other(actor)) != State::done) turn_ = other(actor);
  changed_.notify_all();
}

// Until both are done. Looks at the server where a statement takes long, and hands the turn on where it waits
// for the other actor.
void Stepper::watch(std::unique_lock<std::mutex>& lock) {
  const auto done = [this] { return state(0) == State::done && state(1) == State::done; };
  auto moved_at = std::chrono::steady_clock::now();
  std::uint64_t seen = 0;
  while (!changed_.wait_for(lock, kPollInterval, done)) {
    const int actor = turn_;
    const auto now = std::chrono::steady_clock::now();
    if (std::exchange(seen, asked_) != asked_) moved_at = now;
    if (now - moved_at > kStuck) {
      for (const auto& step : course_.steps) std::fprintf(stderr, "%d %s\n", step.actor, step.what.c_str());
      std::fprintf(stderr, "nobody goes on in the order %s\n", to_string(order_).c_str());
      std::_Exit(3);
    }
    if (state(actor) != State::asking || now == moved_at) continue;
    lock.unlock();
    const bool waits = waits_for_lock_(actor);
    lock.lock();
    if (!waits || turn_ != actor || state(actor) != State::asking || seen != asked_) continue;
    state(actor) = State::waiting;
    ++course_.waits;
    if (state(other(actor)) == State::ready) {
      course_.steps.push_back({actor, "waits for the other's lock", false});
      turn_ = other(actor);
      changed_.notify_all();
    } else if (state(other(actor)) == State::waiting) {
      ++course_.deadlocks;
      course_.steps.push_back({actor, "waits for the other's lock, who waits for this one's", false});
    }
  }
}

void Stepper::await_turn(std::unique_lock<std::mutex>& lock, int actor) {
  changed_.wait(lock, [&] { return turn_ == actor; });
  state(actor) = State::running;
}

bool Stepper::preempts(int actor, const std::string& what) {
  if (state(other(actor)) != State::ready) return false;
  if (order_.seed) return std::uniform_real_distribution<>{0, 1}(chance_) < eagerness_;
  if (next_ >= order_.runs.size() || actor != (order_.first + static_cast<int>(next_)) % kActors)
    return false;
  if (!is_point_(actor, what)) return false;
  if (passed_ < order_.runs[next_]) {
    ++passed_;
    return false;
  }
  ++next_;
  passed_ = 0;
  return true;
}

void Stepper::before(int actor, const std::string& what) {
  std::unique_lock lock(mutex_);
  if (!active_) return;
  bool preempted = false;
  if (preempts(actor, what)) {
    ++course_.preemptions;
    preempted = true;
    state(actor) = State::ready;
    turn_ = other(actor);
    changed_.notify_all();
    await_turn(lock, actor);
  }
  course_.steps.push_back({actor, what, preempted});
  state(actor) = State::asking;
  ++asked_;
}

void Stepper::after(int actor) {
  std::unique_lock lock(mutex_);
  if (!active_ || (state(actor) != State::asking && state(actor) != State::waiting)) return;
  const bool waited = state(actor) == State::waiting;
  state(actor) = State::ready;
  // Of two that waited for each other the server has ended this one's statement.
  if (waited && turn_ != actor && state(other(actor)) == State::waiting) turn_ = actor;
  changed_.notify_all();
  await_turn(lock, actor);
}

void Stepper::ended(int actor) {
  std::unique_lock lock(mutex_);
  if (!active_) return;
  state(actor) = State::running;
  ++asked_;
  changed_.wait(lock, [&] { return state(other(actor)) != State::waiting; });
}

}  // namespace presetbridge::interleavings
