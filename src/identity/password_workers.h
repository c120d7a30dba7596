// argon2id off the threads that serve sockets: a few threads of its own and a short queue in front of them,
// so that sign-ins neither hold up other requests nor eat all memory. The queue is fair (spec 8.6): networks
// take turns, so one that sends much waits for itself.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/password_hash.h"
#include "identity/login_failure.h"
#include "net/client_address.h"

namespace presetbridge::identity {

// Thread-safe. Outlives the tasks that wait in it.
class PasswordWorkers {
 public:
  struct Options {
    int threads = 2;  // 0: hashes inside the call, for tests on one thread
    std::size_t max_queue = 64;
  };
  // `hasher` outlives this.
  PasswordWorkers(const crypto::PasswordHasher& hasher, Options options);
  ~PasswordWorkers();  // stop()

  // The slot that a sign-in of a caller needs before any work, until it ends.
  class Seat {
   public:
    Seat(Seat&& other) noexcept
        : workers_(std::exchange(other.workers_, nullptr)), network_(std::move(other.network_)) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat() {
      if (workers_ != nullptr) workers_->leave(network_);
    }

   private:
    friend PasswordWorkers;
    Seat(PasswordWorkers* workers, std::string network) : workers_(workers), network_(std::move(network)) {}
    PasswordWorkers* workers_;  // null: not counted
    std::string network_;
  };
  // RATE_LIMIT_EXCEEDED, to come again in a second: the caller's network has an eighth of all places already
  // (threads and queue; one at least). Who may speak for others has as many as there are.
  LoginResult<Seat> seat(const net::Caller& caller);

  // OVERLOADED when the queue is full or stop() was called; and the hasher's own errors. In a full queue
  // the newest job of the network with most of them is displaced, if that has two more than the seat's.
  // `seat` outlives the task.
  Task<Expected<std::string>> hash(Executor& executor, const Seat& seat, std::string password);
  Task<Expected<bool>> verify(Executor& executor, const Seat& seat, std::string stored, std::string password);

  // Answers what waits with OVERLOADED, finishes what runs and joins the threads. Idempotent.
  void stop();

 private:
  using Job = std::move_only_function<void(bool run)>;
  struct Line {  // of one network; never empty
    std::string network;
    std::deque<Job> jobs;
  };
  void leave(const std::string& network);
  void submit(const std::string& network, Job job);
  bool enqueue(const std::string& network, Job& job, Job& displaced);
  void work();

  const crypto::PasswordHasher& hasher_;
  const Options options_;
  const std::size_t most_seats_;  // of one network
  std::mutex mutex_;              // guards lines_, waiting_, seats_ and stopping_
  std::condition_variable filled_;
  std::list<Line> lines_;  // whose turn is next first
  std::size_t waiting_ = 0;
  std::unordered_map<std::string, std::size_t> seats_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace presetbridge::identity
