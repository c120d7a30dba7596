#include "base/task.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/testing.h"

namespace presetbridge {
namespace {

using testing::ManualClock;
using testing::VirtualScheduler;

Task<int> add_later(Executor& executor, int a, int b) {
  const int first = co_await suspend<int>(executor, [a](auto resume) { resume(a); });
  co_return first + b;
}

Task<int> sum_to(Executor& executor, int n) {
  int total = 0;
  for (int i = 1; i <= n; ++i) total = co_await add_later(executor, total, i);
  co_return total;
}

Task<void> throw_after(Executor& executor) {
  co_await suspend<int>(executor, [](auto resume) { resume(1); });
  throw std::runtime_error("planted");
}

TEST(Task, AwaitsNestedTasksAndResumesOnTheExecutorOnly) {
  ManualClock clock;
  VirtualScheduler scheduler(clock);
  int result = 0;
  spawn(sum_to(scheduler, 1'000), [&](Outcome<int> o) { result = *o.value; });
  EXPECT_EQ(result, 0);
  scheduler.run();
  EXPECT_EQ(result, 500'500);
}

TEST(Task, HandsAnExceptionToWhoeverStartedIt) {
  ManualClock clock;
  VirtualScheduler scheduler(clock);
  bool thrown = false;
  spawn(throw_after(scheduler), [&](Outcome<void> o) { thrown = o.exception != nullptr; });
  scheduler.run();
  EXPECT_TRUE(thrown);
}

TEST(Task, ThatIsNeverStartedIsFreed) {
  ManualClock clock;
  VirtualScheduler scheduler(clock);
  {
    auto unused = throw_after(scheduler);
  }
  EXPECT_TRUE(scheduler.idle());
}

TEST(VirtualScheduler, RunsTimersInOrderAndForgetsCancelledOnes) {
  ManualClock clock;
  VirtualScheduler scheduler(clock);
  std::string seen;
  auto a = scheduler.schedule(Millis{20}, [&] { seen += 'a'; });
  auto b = scheduler.schedule(Millis{10}, [&] { seen += 'b'; });
  auto c = scheduler.schedule(Millis{15}, [&] { seen += 'c'; });
  c.reset();
  scheduler.advance(Millis{30});
  EXPECT_EQ(seen, "ba");
}

}  // namespace
}  // namespace presetbridge
