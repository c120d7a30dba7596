#include "storage/postgres/server_clock.h"

#include <chrono>

namespace presetbridge::storage {

ServerClock::ServerClock(Timestamp now) : ahead_(to_unix_ms(now) - ticks()) {}

Timestamp ServerClock::now() const {
  return from_unix_ms(ticks() + ahead_.load(std::memory_order_relaxed));
}

std::int64_t ServerClock::ticks() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<Millis>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace presetbridge::storage
