#include "services/leases/missed_work.h"

#include <algorithm>

#include "storage/commit/timed_read.h"

namespace presetbridge::services {

Task<void> MissedWork::run() {
  const auto& clock = ports_.clock;
  while (!ports_.tasks.stopping()) {
    if (ports_.scan.take_full(clock.now())) {
      const auto ready = co_await timed_read(ports_.async_db, ports_.scheduler, clock, queries_.first_ready);
      if (ports_.scan.saw_full(ready.found, ready.took)) ports_.tasks.wake();
    }
    if (!ports_.tasks.stopping() && forgotten_.take(clock.now())) co_await wake_forgotten();
    const Timestamp now = clock.now();
    co_await wakeup_.wait(std::min(ports_.scan.left(now), forgotten_.left(now)));
  }
}

Task<void> MissedWork::wake_forgotten() {
  const auto wake =
      co_await timed_read(ports_.async_db, ports_.scheduler, ports_.clock, queries_.find_forgotten);
  forgotten_.done(wake.took);
  if (!wake.found || !*wake.found) co_return;
  if (co_await ports_.async_db.write(ports_.scheduler, *wake.found)) ports_.tasks.wake();
}

}  // namespace presetbridge::services
