// How nodes of one PostgreSQL tell each other that there is work: LISTEN and NOTIFY, on a thread and a
// connection of their own. A hint only: one that is lost costs the time until the next poll.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/time.h"

namespace presetbridge::storage {

struct WakeupsOptions {
  std::string url;  // as PostgresOptions::url
  // Between two NOTIFYs of this node: each takes a lock of the whole server when it commits.
  Millis debounce{50};
  Millis connect_timeout{5'000};
  Millis first_pause{100};  // before another try to connect; doubled each time, up to `longest_pause`
  Millis longest_pause{5'000};
};

class Wakeups {
 public:
  // Starts the thread. `came` is called on it when another node told of work, and after each connect, when
  // something may have been missed; it must not block. Both outlive this.
  Wakeups(WakeupsOptions options, Log& log, std::function<void()> came);
  // Joins the thread: within a statement's or a connect's deadline.
  ~Wakeups();
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;

  // There is work that others may do. Never blocks; thread-safe.
  void tell();
  // The thread is to end; does not wait until it has.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace presetbridge::storage
