// Runs two actors, each on a thread and on database connections of its own, one statement at a time: at each
// statement it is decided who goes on. One of them runs at any moment, the other stands still before a
// statement, or waits in the server for a row that the first has locked.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/testing.h"
#include "storage/database.h"

namespace presetbridge::interleavings {

constexpr int kActors = 2;

// Who goes on where. Where one actor waits for the other's lock, or has ended, the other goes on in any case:
// that is no preemption.
struct Order {
  int first = 0;
  // The actor `first` is preempted when it has passed runs[0] points, the other when it has then passed
  // runs[1], and so on; whoever runs behind the last of them runs to its end.
  std::vector<int> runs = {};
  // Instead of `runs`: chance decides at each statement.
  std::optional<std::uint64_t> seed = {};
};
std::string to_string(const Order& order);

struct Step {
  int actor = 0;
  std::string what;       // the statement's text, COMMIT, or what happened
  bool preempts = false;  // the other actor ran until then, and could have gone on
};

// How one order went.
struct Course {
  std::vector<Step> steps;
  int preemptions = 0;
  int waits = 0;                                   // for a lock of the other
  int deadlocks = 0;                               // both waited for each other
  std::array<std::exception_ptr, kActors> thrown;  // what left an actor
};

class Stepper {
 public:
  // Whether the statement is one at which `actor` may be preempted.
  using IsPoint = std::function<bool(int actor, const std::string& what)>;
  // Whether the actor's session waits in the server for a lock; asked on the thread that calls run().
  using WaitsForLock = std::function<bool(int actor)>;

  explicit Stepper(WaitsForLock waits_for_lock) : waits_for_lock_(std::move(waits_for_lock)) {}

  // Ends the process where nobody goes on any more for a minute: no thread could be stopped.
  Course run(const Order& order, IsPoint is_point, std::array<std::function<void()>, kActors> bodies);

  // The database as the actor sees it. While nothing runs its statements pass. Each of its transactions
  // begins a millisecond later than the one before, whoever's that was.
  std::unique_ptr<storage::Database> step(std::unique_ptr<storage::Database> database, int actor,
                                          presetbridge::testing::ManualClock& clock);

 private:
  friend class SteppedDriver;
  friend class SteppedDatabase;
  enum class State { ready, running, asking, waiting, done };  // asking: in a statement; waiting: for a lock

  void live(int actor, const std::function<void()>& body);
  void watch(std::unique_lock<std::mutex>& lock);
  // Of an actor, around its statements: returns when it may go on.
  void before(int actor, const std::string& what);
  void after(int actor);
  // Its transaction has ended: who waited for its locks gets them.
  void ended(int actor);
  bool preempts(int actor, const std::string& what);
  void await_turn(std::unique_lock<std::mutex>& lock, int actor);
  State& state(int actor) { return states_[static_cast<std::size_t>(actor)]; }

  const WaitsForLock waits_for_lock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool active_ = false;
  Order order_;
  IsPoint is_point_;
  std::size_t next_ = 0;  // of order_.runs
  int passed_ = 0;        // points of the actor that it speaks of
  std::mt19937_64 chance_;
  double eagerness_ = 0;
  int turn_ = 0;
  std::uint64_t asked_ = 0;  // statements so far
  std::array<State, kActors> states_{};
  Course course_;
};

}  // namespace presetbridge::interleavings
