// A read and its duration, for polls that must not take more than their share of the time (base/recurring.h).
#pragma once

#include <type_traits>
#include <utility>

#include "base/clock.h"
#include "base/task.h"
#include "storage/commit/async_database.h"

namespace presetbridge::storage {

template <class T>
struct TimedRead {
  Expected<T> found;
  Millis took;  // without the wait for a connection; with it, where the read failed
};

template <class Read, class T = std::invoke_result_t<Read&, Tx&>>
Task<TimedRead<T>> timed_read(AsyncDatabase& async_db, Executor& executor, const Clock& clock, Read read) {
  const Stopwatch all(clock);
  Millis took{0};
  auto found = co_await async_db.read(executor, [&](Tx& tx) {
    const Stopwatch watch(clock);
    auto value = read(tx);
    took = watch.elapsed();
    return value;
  });
  if (!found) took = all.elapsed();
  co_return TimedRead<T>{std::move(found), took};
}

}  // namespace presetbridge::storage
