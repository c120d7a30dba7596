#include "identity/password_workers.h"

#include <algorithm>
#include <utility>

#include "crypto/secret.h"

namespace presetbridge::identity {
namespace {

constexpr std::size_t kShares = 8;  // spec 8.6: no network has more than one
constexpr Millis kComeBack{1'000};

std::unexpected<Error> overloaded() {
  return fail("OVERLOADED", "Too many people are signing in at this moment; try again in a few seconds.");
}

}  // namespace

PasswordWorkers::PasswordWorkers(const crypto::PasswordHasher& hasher, Options options)
    : hasher_(hasher),
      options_(options),
      most_seats_(std::max<std::size_t>(
          (static_cast<std::size_t>(options.threads) + options.max_queue) / kShares, 1)) {
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
}

PasswordWorkers::~PasswordWorkers() {
  stop();
}

LoginResult<PasswordWorkers::Seat> PasswordWorkers::seat(const net::Caller& caller) {
  if (caller.for_others) return Seat(nullptr, caller.network);
  const std::scoped_lock lock(mutex_);
  auto& taken = seats_[caller.network];
  if (taken >= most_seats_) return std::unexpected(rate_limit_exceeded(kComeBack));
  ++taken;
  return Seat(this, caller.network);
}

void PasswordWorkers::leave(const std::string& network) {
  const std::scoped_lock lock(mutex_);
  const auto taken = seats_.find(network);
  if (--taken->second == 0) seats_.erase(taken);
}

void PasswordWorkers::stop() {
  std::list<Line> waiting;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    waiting.swap(lines_);
    waiting_ = 0;
  }
  filled_.notify_all();
  // Seconds of hashing, for callers whose connections are closed.
  for (auto& line : waiting) {
    for (auto& job : line.jobs) job(false);
  }
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

// With the lock. False: `job` is still the caller's. `displaced` must be answered, without the lock.
bool PasswordWorkers::enqueue(const std::string& network, Job& job, Job& displaced) {
  auto own = std::ranges::find(lines_, network, &Line::network);
  if (waiting_ >= options_.max_queue) {
    const auto size = [](const Line& line) { return line.jobs.size(); };
    const auto longest = std::ranges::max_element(lines_, {}, size);
    const auto ours = own == lines_.end() ? 0 : own->jobs.size();
    if (longest == lines_.end() || longest->jobs.size() < ours + 2) return false;
    displaced = std::move(longest->jobs.back());  // not its last one: that has ours + 2
    longest->jobs.pop_back();
    --waiting_;
  }
  if (own == lines_.end()) own = lines_.insert(lines_.end(), Line{network, {}});
  own->jobs.push_back(std::move(job));
  ++waiting_;
  return true;
}

void PasswordWorkers::submit(const std::string& network, Job job) {
  Job displaced;
  bool run = false;
  {
    const std::scoped_lock lock(mutex_);
    if (options_.threads == 0) {
      run = !stopping_ && options_.max_queue > 0;
    } else if (!stopping_ && enqueue(network, job, displaced)) {
      filled_.notify_one();
    }
  }
  if (displaced) displaced(false);
  if (job) job(run);
}

void PasswordWorkers::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stopping_ || !lines_.empty(); });
      if (lines_.empty()) return;
      auto& line = lines_.front();
      job = std::move(line.jobs.front());
      line.jobs.pop_front();
      --waiting_;
      if (line.jobs.empty()) {
        lines_.pop_front();
      } else {
        lines_.splice(lines_.end(), lines_, lines_.begin());
      }
    }
    job(true);
  }
}

Task<Expected<std::string>> PasswordWorkers::hash(Executor& executor, const Seat& seat,
                                                  std::string password) {
  auto start = [this, &seat, &password](auto resume) {
    submit(seat.network_, [this, &password, resume](bool run) mutable {
      resume(run ? hasher_.hash(password) : Expected<std::string>(overloaded()));
    });
  };
  auto result = co_await suspend<Expected<std::string>>(executor, std::move(start));
  crypto::wipe(password);
  co_return result;
}

Task<Expected<bool>> PasswordWorkers::verify(Executor& executor, const Seat& seat, std::string stored,
                                             std::string password) {
  auto start = [this, &seat, &stored, &password](auto resume) {
    submit(seat.network_, [this, &stored, &password, resume](bool run) mutable {
      resume(run ? Expected<bool>(hasher_.verify(stored, password)) : Expected<bool>(overloaded()));
    });
  };
  auto result = co_await suspend<Expected<bool>>(executor, std::move(start));
  crypto::wipe(password);
  co_return result;
}

}  // namespace presetbridge::identity
