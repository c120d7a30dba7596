// A read and how long it took, for polls that must not take more than their share of the time
// (base/recurring.h).
#pragma once

#include <type_traits>
#include <utility>

#include "base/clock.h"
#include "base/task.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

template <class T>
struct TimedRead {
  Expected<T> found;
  Millis took;  // without what it waited for a connection; with it, where it failed
};

template <class Read, class T = std::invoke_result_t<Read&, storage::Tx&>>
Task<TimedRead<T>> timed_read(storage::AsyncDatabase& async_db, Executor& executor, const Clock& clock,
                              Read read) {
  const Stopwatch all(clock);
  Millis took{0};
  auto found = co_await async_db.read(executor, [&](storage::Tx& tx) {
    const Stopwatch watch(clock);
    auto value = read(tx);
    took = watch.elapsed();
    return value;
  });
  if (!found) took = all.elapsed();
  co_return TimedRead<T>{std::move(found), took};
}

}  // namespace presetbridge::services
