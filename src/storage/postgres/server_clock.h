// The time of a PostgreSQL server: as of the last transaction's begin, plus the time that has passed here since.
// Nodes compare stored times (leases, due times) with one clock, since machines differ by seconds.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace presetbridge::storage {

// Before any transaction: this machine's time. Never behind the server by more than the drift since the last
// transaction; ahead of it by at most that one's round trip. Thread-safe.
class ServerClock final : public Clock {
 public:
  // `now`: of this machine.
  explicit ServerClock(Timestamp now);
  Timestamp now() const override;

  // This machine's time since some moment, in milliseconds; no one can set it.
  static std::int64_t ticks();
  // The server's time, asked for at `asked_at` (ticks()).
  void set(Timestamp server, std::int64_t asked_at) { ahead_ = to_unix_ms(server) - asked_at; }

 private:
  std::atomic<std::int64_t> ahead_;  // of the ticks
};

}  // namespace presetbridge::storage
