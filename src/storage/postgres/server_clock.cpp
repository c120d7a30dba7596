#include "storage/postgres/server_clock.h"

#include <time.h>

namespace presetbridge::storage {

ServerClock::ServerClock(Timestamp now) : ahead_(to_unix_ms(now) - ticks()) {}

Timestamp ServerClock::now() const {
  return from_unix_ms(ticks() + ahead_.load(std::memory_order_relaxed));
}

std::int64_t ServerClock::ticks() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);  // it counts while the machine is suspended
  return std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

}  // namespace presetbridge::storage
