#include "base/background_tasks.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/testing.h"

namespace presetbridge {
namespace {

struct Loop {
  explicit Loop(Scheduler& scheduler) : tasks(scheduler) {}
  Task<void> run() {
    while (!tasks.stopping()) {
      ++rounds;
      co_await tasks.wait(Millis{1'000});
    }
  }
  BackgroundTasks tasks;
  int rounds = 0;
};

class BackgroundTasksTest : public ::testing::Test {
 protected:
  testing::ManualClock clock_;
  testing::VirtualScheduler scheduler_{clock_};
  Loop loop_{scheduler_};
  int stopped_ = 0;
};

TEST_F(BackgroundTasksTest, WithoutATaskAStopIsOverAtOnce) {
  loop_.tasks.stop([this] { ++stopped_; });
  EXPECT_EQ(stopped_, 1);
}

TEST_F(BackgroundTasksTest, AStopWakesTheLoopAndWaitsForEveryTask) {
  int ended = 0;
  const auto count = [&](const std::exception_ptr& fault) { ended += fault ? 100 : 1; };
  Wakeup other(scheduler_);
  loop_.tasks.start(loop_.run(), count);
  loop_.tasks.start([](Wakeup& wakeup) -> Task<void> { co_await wakeup.wait(Millis{60'000}); }(other), count);
  scheduler_.advance(Millis{2'500});
  EXPECT_EQ(loop_.rounds, 3);
  loop_.tasks.wake();
  scheduler_.run();
  EXPECT_EQ(loop_.rounds, 4);
  loop_.tasks.stop([this] { ++stopped_; });
  scheduler_.run();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(loop_.tasks.running(), 1);
  EXPECT_EQ(stopped_, 0);
  other.notify();
  scheduler_.run();
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(stopped_, 1);
}

TEST_F(BackgroundTasksTest, AFaultIsToldAndCountsAsAnEnd) {
  bool told = false;
  loop_.tasks.start(
      []() -> Task<void> {
        throw std::runtime_error("fault");
        co_return;
      }(),
      [&](const std::exception_ptr& fault) { told = fault != nullptr; });
  EXPECT_TRUE(told);
  EXPECT_EQ(loop_.tasks.running(), 0);
}

}  // namespace
}  // namespace presetbridge
