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

#include "storage/postgres/server_clock.h"
#include "storage/postgres/session.h"

namespace presetbridge::storage {
namespace {

constexpr Millis kForever{-1};
// Of LISTEN and NOTIFY.
constexpr Millis kStatement{10'000};

}  // namespace

struct Wakeups::State {
  State(WakeupsOptions o, Log& l, std::function<void()> c)
      : options(std::move(o)), log(l), came(std::move(c)), event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (event < 0) throw std::runtime_error("no event descriptor");
  }
  ~State() { ::close(event); }

  void run();
  void listen();
  void poll_for(Millis most, int socket);
  void signal() const {
    const std::uint64_t one = 1;
    // It fails only where it is signalled already, 2^64 times.
    [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
  }

  const WakeupsOptions options;
  Log& log;
  const std::function<void()> came;
  const int event;  // readable: told, or stopping
  std::atomic<bool> told{false};
  std::atomic<bool> stopping{false};
  bool connected = false;
  bool said = false;  // that there is none, since it was last there
  std::thread thread;
};

// Returns when `socket` (if there is one) or the event is readable, or the time is over.
void Wakeups::State::poll_for(Millis most, int socket) {
  std::array<pollfd, 2> ready{{{event, POLLIN, 0}, {socket, POLLIN, 0}}};
  ::poll(ready.data(), ready.size(), static_cast<int>(most.count()));
  if ((ready[0].revents & POLLIN) == 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(event, &count, sizeof count);
}

// Until stopped, or the connection is lost, which throws.
void Wakeups::State::listen() {
  postgres::Session session(options.url, postgres::Access::read_write,
                            {options.connect_timeout, kStatement, kStatement, kStatement});
  session.run("LISTEN presetbridge_work");
  if (!connected) log.info("listening to the other nodes");
  connected = true;
  said = false;
  came();
  std::optional<std::int64_t> last_told;
  while (!stopping) {
    Millis most = kForever;
    if (told) {
      const auto since = last_told ? Millis(ServerClock::ticks() - *last_told) : options.debounce;
      most = std::max(options.debounce - since, Millis{0});
      if (most == Millis{0}) {
        told = false;
        last_told = ServerClock::ticks();
        session.run("NOTIFY presetbridge_work");
        most = kForever;
      }
    }
    if (session.notified()) came();
    if (!told || most != kForever) poll_for(most, session.socket());
  }
}

void Wakeups::State::run() {
  Millis pause = options.first_pause;
  while (!stopping) {
    try {
      listen();
    } catch (const std::exception& e) {
      if (connected) pause = options.first_pause;
      if (connected || !said)
        log.warn("there is no connection to the other nodes; their work is found by looking for it",
                 {{"error", e.what()}});
      connected = false;
      said = true;
    }
    const auto until = ServerClock::ticks() + pause.count();
    while (!stopping && ServerClock::ticks() < until) poll_for(Millis(until - ServerClock::ticks()), -1);
    pause = std::min(2 * pause, options.longest_pause);
  }
}

Wakeups::Wakeups(WakeupsOptions options, Log& log, std::function<void()> came)
    : state_(std::make_unique<State>(std::move(options), log, std::move(came))) {
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

void Wakeups::tell() {
  if (!state_->told.exchange(true)) state_->signal();
}

}  // namespace presetbridge::storage
