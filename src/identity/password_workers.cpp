#include "identity/password_workers.h"

#include <utility>

#include "crypto/secret.h"

namespace presetbridge::identity {
namespace {

std::unexpected<Error> overloaded() {
  return fail("OVERLOADED", "Too many people are signing in at this moment; try again in a few seconds.");
}

}  // namespace

PasswordWorkers::PasswordWorkers(const crypto::PasswordHasher& hasher, Options options)
    : hasher_(hasher), options_(options) {
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
}

PasswordWorkers::~PasswordWorkers() {
  stop();
}

void PasswordWorkers::stop() {
  std::deque<Job> waiting;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    waiting.swap(jobs_);
  }
  filled_.notify_all();
  // Seconds of hashing, for callers whose connections are closed.
  for (auto& job : waiting) job(false);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void PasswordWorkers::submit(Job job) {
  std::unique_lock lock(mutex_);
  const bool accepted = !stopping_ && jobs_.size() < options_.max_queue;
  if (accepted && options_.threads > 0) {
    jobs_.push_back(std::move(job));
    lock.unlock();
    filled_.notify_one();
    return;
  }
  lock.unlock();
  job(accepted);
}

void PasswordWorkers::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job(true);
  }
}

Task<Expected<std::string>> PasswordWorkers::hash(Executor& executor, std::string password) {
  auto start = [this, &password](auto resume) {
    submit([this, &password, resume](bool run) mutable {
      resume(run ? hasher_.hash(password) : Expected<std::string>(overloaded()));
    });
  };
  auto result = co_await suspend<Expected<std::string>>(executor, std::move(start));
  crypto::wipe(password);
  co_return result;
}

Task<Expected<bool>> PasswordWorkers::verify(Executor& executor, std::string stored, std::string password) {
  auto start = [this, &stored, &password](auto resume) {
    submit([this, &stored, &password, resume](bool run) mutable {
      resume(run ? Expected<bool>(hasher_.verify(stored, password)) : Expected<bool>(overloaded()));
    });
  };
  auto result = co_await suspend<Expected<bool>>(executor, std::move(start));
  crypto::wipe(password);
  co_return result;
}

}  // namespace presetbridge::identity
