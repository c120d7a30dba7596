#include "storage/postgres/wakeups.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/file_descriptor.h"
#include "storage/postgres/server_clock.h"
#include "storage/postgres/session.h"

namespace presetbridge::storage {
namespace {

constexpr Millis kForever{-1};
// The timeout of LISTEN and NOTIFY.
constexpr Millis kStatement{10'000};

}  // namespace

struct Wakeups::State {
  State(WakeupsOptions o, Log& l, std::function<void()> c)
      : options(std::move(o)),
        log(l),
        on_work(std::move(c)),
        event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!event.is_open()) throw std::runtime_error("no event descriptor");
  }

  void run();
  void listen();
  void poll_for(Millis most, int socket);
  void signal() const {
    const std::uint64_t one = 1;
    // It fails only where the count of signals is at its limit, 2^64: the event is readable then.
    [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
  }

  const WakeupsOptions options;
  Log& log;
  const std::function<void()> on_work;
  const FileDescriptor event;        // readable: there is something to notify of, or the thread is to stop
  std::atomic<bool> pending{false};  // a NOTIFY
  std::atomic<bool> stopping{false};
  bool connected = false;
  bool logged = false;  // it was logged that there is no connection, since there last was one
  std::thread thread;
};

// Returns when `socket` (if there is one) or the event is readable, or the time is over.
void Wakeups::State::poll_for(Millis most, int socket) {
  std::array<pollfd, 2> ready{{{event.get(), POLLIN, 0}, {socket, POLLIN, 0}}};
  ::poll(ready.data(), ready.size(), static_cast<int>(most.count()));
  if ((ready[0].revents & POLLIN) == 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(event.get(), &count, sizeof count);
}

// Returns when stopped; throws when the connection is lost.
void Wakeups::State::listen() {
  postgres::Session session(options.url, postgres::Access::read_write,
                            {options.connect_timeout, kStatement, kStatement, kStatement});
  session.run("LISTEN presetbridge_work");
  if (!connected) log.info("listening to the other nodes");
  connected = true;
  logged = false;
  on_work();
  std::optional<std::int64_t> last_notify;
  while (!stopping) {
    Millis most = kForever;
    if (pending) {
      const auto since = last_notify ? Millis(ServerClock::ticks() - *last_notify) : options.debounce;
      most = std::max(options.debounce - since, Millis{0});
      if (most == Millis{0}) {
        pending = false;
        last_notify = ServerClock::ticks();
        session.run("NOTIFY presetbridge_work");
        most = kForever;
      }
    }
    if (session.notified()) on_work();
    if (!pending || most != kForever) poll_for(most, session.socket());
  }
}

void Wakeups::State::run() {
  Millis pause = options.first_pause;
  while (!stopping) {
    try {
      listen();
    } catch (const std::exception& e) {
      if (connected) pause = options.first_pause;
      if (connected || !logged)
        log.warn("there is no connection to the other nodes; their work is found by polling",
                 {{"error", e.what()}});
      connected = false;
      logged = true;
    }
    const auto until = ServerClock::ticks() + pause.count();
    while (!stopping && ServerClock::ticks() < until) poll_for(Millis(until - ServerClock::ticks()), -1);
    pause = std::min(2 * pause, options.longest_pause);
  }
}

Wakeups::Wakeups(WakeupsOptions options, Log& log, std::function<void()> on_work)
    : state_(std::make_unique<State>(std::move(options), log, std::move(on_work))) {
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Wakeups::~Wakeups() {
  stop();
  state_->thread.join();
}

void Wakeups::stop() {
  state_->stopping = true;
  state_->signal();
}

void Wakeups::notify() {
  if (!state_->pending.exchange(true)) state_->signal();
}

}  // namespace presetbridge::storage
