// argon2id off the threads that serve sockets: a few threads of its own and a short queue in front of them,
// so that sign-ins neither hold up other requests nor eat all memory.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/password_hash.h"

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

  // OVERLOADED when the queue is full or stop() was called; and the hasher's own errors.
  Task<Expected<std::string>> hash(Executor& executor, std::string password);
  Task<Expected<bool>> verify(Executor& executor, std::string stored, std::string password);

  // Answers what waits with OVERLOADED, finishes what runs and joins the threads. Idempotent.
  void stop();

 private:
  using Job = std::move_only_function<void(bool run)>;
  void submit(Job job);
  void work();

  const crypto::PasswordHasher& hasher_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace presetbridge::identity
