#include "base/background_tasks.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/testing.h"

namespace presetbridge {
namespace {

struct Loop {
  Loop(Scheduler& scheduler, Log& log, Metrics& metrics)
      : tasks(scheduler,
              {.log = log, .message = "a task failed", .metrics = &metrics, .counter = "faults_total"}) {}
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
  testing::RecordingLog log_;
  testing::CountingMetrics metrics_;
  Loop loop_{scheduler_, log_, metrics_};
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
  loop_.tasks.start_loop(loop_.run(), "loop", count);
  loop_.tasks.start_job([](Wakeup& wakeup) -> Task<void> { co_await wakeup.wait(Millis{60'000}); }(other),
                        "job", count);
  scheduler_.advance(Millis{2'500});
  EXPECT_EQ(loop_.rounds, 3);
  EXPECT_EQ(loop_.tasks.jobs(), 1);
  loop_.tasks.wake();
  scheduler_.run();
  EXPECT_EQ(loop_.rounds, 4);
  loop_.tasks.stop([this] { ++stopped_; });
  scheduler_.run();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(stopped_, 0);
  other.notify();
  scheduler_.run();
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(loop_.tasks.jobs(), 0);
  EXPECT_EQ(stopped_, 1);
  EXPECT_EQ(log_.text, "");
}

TEST_F(BackgroundTasksTest, AnExceptionOfAnyTypeIsLoggedAndCountedAndEndsItsTask) {
  const auto throwing = [](auto what) -> Task<void> {
    throw what;
    co_return;
  };
  int faults = 0;
  const auto count = [&](const std::exception_ptr& fault) { faults += fault ? 1 : 0; };
  loop_.tasks.start_job(throwing(std::runtime_error("of the library")), "first", count);
  loop_.tasks.start_job(throwing(Error{"CODE", "of ours", {}}), "second", count);
  loop_.tasks.start_loop(throwing(7), "third", count);
  EXPECT_EQ(faults, 3);
  EXPECT_EQ(loop_.tasks.jobs(), 0);
  EXPECT_EQ(metrics_.counted["faults_total"], 3);
  EXPECT_EQ(log_.text,
            "a task failed task=first error=of the library\n"
            "a task failed task=second error=of ours\n"
            "a task failed task=third error=an exception of an unknown type\n");
  loop_.tasks.stop([this] { ++stopped_; });
  EXPECT_EQ(stopped_, 1);
}

}  // namespace
}  // namespace presetbridge
