#include "app/process/termination.h"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "app/process/logging.h"

namespace presetbridge::app {
namespace {

sigset_t both() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

Termination::Termination(const Clock& clock, Millis deadline) : clock_(clock), deadline_(deadline) {
  const sigset_t set = both();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { watch(); });
}

Termination::~Termination() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  // Should it wait for a signal still; that is blocked, so it ends nothing but the wait.
  pthread_kill(thread_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
  thread_.join();
  // One that came twice must not end the process with its stop done: those that wait are taken, and the
  // signals stay blocked.
  const sigset_t set = both();
  const timespec at_once{};
  while (sigtimedwait(&set, nullptr, &at_once) > 0) {
  }
}

void Termination::serving() {
  const std::scoped_lock lock(mutex_);
  serving_ = true;
}

int Termination::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return signal_ != 0; });
  return signal_;
}

Millis Termination::elapsed() const {
  const std::scoped_lock lock(mutex_);
  if (signal_ == 0) return Millis{0};
  return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - came_at_);
}

void Termination::watch() {
  const sigset_t set = both();
  int signal = 0;
  while (sigwait(&set, &signal) != 0) {
  }
  const auto came_at = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (over_) return;
  if (!serving_) {
    ::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::raise(signal);
  }
  signal_ = signal;
  came_at_ = came_at;
  changed_.notify_all();
  if (!changed_.wait_until(lock, came_at + deadline_, [this] { return over_; })) end();
}

// Takes no lock of the log's and waits for no reader of it: either may be what hangs.
void Termination::end() noexcept {
  pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&standard_error, 1, 0) == 1 && (standard_error.revents & POLLOUT) != 0) {
    const auto line = log_line(clock_.now(), Severity::error, "the service did not stop in time and is ended",
                               {{"milliseconds", std::int64_t{deadline_.count()}}, {"at", step_.load()}}) +
                      "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  std::_Exit(kStuck);
}

}  // namespace presetbridge::app
