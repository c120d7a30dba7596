// Nodes of one PostgreSQL notify each other of work, by LISTEN and NOTIFY, on a thread and a connection for that
// alone. A notification is a hint only: one that is lost costs the time until the next poll.
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
  Millis first_pause{100};  // before another attempt to connect; doubled each time, up to `longest_pause`
  Millis longest_pause{5'000};
};

class Wakeups {
 public:
  // Starts the thread, which calls `on_work` when another node has notified of work, and after each connect,
  // when notifications may have been missed. `on_work` must not block. `log`, and all that `on_work` refers to,
  // outlive this.
  Wakeups(WakeupsOptions options, Log& log, std::function<void()> on_work);
  // Stops and joins the thread, within the deadline of the statement or connect under way.
  ~Wakeups();
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;

  // Notifies the other nodes that there is work that they may do. Never blocks; thread-safe.
  void notify();
  // Makes the thread end, and does not wait for its end.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace presetbridge::storage
