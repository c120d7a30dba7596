#include "base/wakeup.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/testing.h"

namespace presetbridge {
namespace {

class WakeupTest : public ::testing::Test {
 protected:
  Task<void> wait_repeatedly(int times, Millis max) {
    for (int i = 0; i < times; ++i) results_.push_back(co_await wakeup_.wait(max));
  }
  Task<void> sleep(Millis delay) {
    co_await sleep_for(scheduler_, delay);
    results_.push_back(true);
  }
  void start(Task<void> task) {
    spawn(std::move(task), [this](Outcome<void>) { ended_ = true; });
  }

  testing::ManualClock clock_;
  testing::VirtualScheduler scheduler_{clock_};
  Wakeup wakeup_{scheduler_};
  std::vector<bool> results_;
  bool ended_ = false;
};

TEST_F(WakeupTest, ANotificationEndsTheWait) {
  start(wait_repeatedly(1, Millis{1'000}));
  scheduler_.run();
  EXPECT_TRUE(results_.empty());
  wakeup_.notify();
  EXPECT_TRUE(results_.empty()) << "notify() resumes nobody inside itself";
  scheduler_.run();
  EXPECT_EQ(results_, std::vector{true});
  EXPECT_TRUE(scheduler_.idle()) << "the timer is gone";
}

TEST_F(WakeupTest, TheWaitEndsByItselfAfterItsTime) {
  start(wait_repeatedly(1, Millis{1'000}));
  scheduler_.advance(Millis{999});
  EXPECT_TRUE(results_.empty());
  scheduler_.advance(Millis{1});
  EXPECT_EQ(results_, std::vector{false});
}

TEST_F(WakeupTest, ANotificationBeforeTheWaitIsKeptOnce) {
  wakeup_.notify();
  wakeup_.notify();
  scheduler_.run();
  start(wait_repeatedly(2, Millis{1'000}));
  EXPECT_EQ(results_, std::vector{true});
  scheduler_.advance(Millis{1'000});
  EXPECT_EQ(results_, (std::vector{true, false}));
  EXPECT_TRUE(ended_);
}

TEST_F(WakeupTest, ANotificationThatWasTakenByAWaitDoesNotEndTheNext) {
  wakeup_.notify();  // its post is still to run
  start(wait_repeatedly(2, Millis{1'000}));
  EXPECT_EQ(results_, std::vector{true});
  scheduler_.run();
  EXPECT_EQ(results_, std::vector{true});
  wakeup_.notify();
  scheduler_.run();
  EXPECT_EQ(results_, (std::vector{true, true}));
}

TEST_F(WakeupTest, ItMayGoWhileItsNotificationIsStillPosted) {
  {
    Wakeup brief(scheduler_);
    brief.notify();
  }
  scheduler_.run();
  EXPECT_TRUE(scheduler_.idle());
}

TEST_F(WakeupTest, SleepLastsAsLongAsAsked) {
  start(sleep(Millis{50}));
  scheduler_.advance(Millis{49});
  EXPECT_FALSE(ended_);
  scheduler_.advance(Millis{1});
  EXPECT_TRUE(ended_);
}

}  // namespace
}  // namespace presetbridge
