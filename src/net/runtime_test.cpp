#include "net/runtime.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <future>
#include <thread>
#include <vector>

#include "base/wakeup.h"

namespace presetbridge::net {
namespace {

TEST(Runtime, RunsWhatIsPostedToACoreInOrderOnOneThread) {
  Runtime runtime(2);
  std::vector<int> order;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) {
    runtime.scheduler(1).post([&, i] {
      order.push_back(i);
      if (i == 99) done.set_value();
    });
  }
  runtime.start();
  done.get_future().wait();
  runtime.stop();
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Runtime, PostNeverRunsInsideItself) {
  Runtime runtime(1);
  runtime.start();
  bool inside = true;
  bool ran_inside = false;
  std::promise<void> done;
  runtime.scheduler(0).post([&] {
    runtime.scheduler(0).post([&] {
      ran_inside = inside;
      done.set_value();
    });
    inside = false;
  });
  done.get_future().wait();
  EXPECT_FALSE(ran_inside);
}

TEST(Runtime, TimersRunInTheOrderOfTheirDelays) {
  Runtime runtime(1);
  runtime.start();
  std::vector<int> order;
  std::vector<std::unique_ptr<Timer>> timers;
  std::promise<void> done;
  runtime.run_on(0, [&] {
    auto& scheduler = runtime.scheduler(0);
    timers.push_back(scheduler.schedule(Millis{20}, [&] {
      order.push_back(2);
      done.set_value();
    }));
    timers.push_back(scheduler.schedule(Millis{-5}, [&] { order.push_back(1); }));
  });
  done.get_future().wait();
  runtime.run_on(0, [&] { timers.clear(); });
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(Runtime, ATimerThatIsDestroyedAfterItExpiredButBeforeItRanDoesNotRun) {
  Runtime runtime(1);
  runtime.start();
  bool ran = false;
  std::promise<void> later;
  std::unique_ptr<Timer> after;
  runtime.run_on(0, [&] {
    auto& scheduler = runtime.scheduler(0);
    auto timer = scheduler.schedule(Millis{0}, [&] { ran = true; });
    const auto due = std::chrono::steady_clock::now() + Millis{2};
    while (std::chrono::steady_clock::now() < due) std::this_thread::yield();
    timer.reset();
    after = scheduler.schedule(Millis{0}, [&] { later.set_value(); });
  });
  later.get_future().wait();
  runtime.run_on(0, [&] { after.reset(); });
  EXPECT_FALSE(ran);
}

TEST(Runtime, StopRunsWhatIsPostedWhileAnotherCoreIsNotDone) {
  Runtime runtime(2);
  runtime.start();
  int ran = 0;
  bool rang = false;
  std::unique_ptr<Timer> last;
  runtime.run_on(1,
                 [&] { last = runtime.scheduler(1).schedule(std::chrono::hours(1), [&] { rang = true; }); });
  for (int i = 0; i < 10; ++i) runtime.scheduler(0).post([&] { ++ran; });
  runtime.scheduler(0).post([&] { runtime.scheduler(1).post([&] { last.reset(); }); });
  runtime.stop(Millis{5'000});
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(last, nullptr);
  EXPECT_FALSE(rang);
}

TEST(Runtime, StopWaitsNoLongerThanItsDeadline) {
  Runtime runtime(2);
  runtime.start();
  bool rang = false;
  std::unique_ptr<Timer> never;
  runtime.run_on(1,
                 [&] { never = runtime.scheduler(1).schedule(std::chrono::hours(1), [&] { rang = true; }); });
  runtime.stop(Millis{20});
  EXPECT_FALSE(rang);
}

TEST(Runtime, RunOnRunsHereWhenNoThreadDoes) {
  Runtime runtime(1);
  std::thread::id where;
  runtime.run_on(0, [&] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
  runtime.start();
  runtime.run_on(0, [&] { where = std::this_thread::get_id(); });
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(Runtime, ReportsEachTerminationSignal) {
  Runtime runtime(1);
  std::promise<int> first;
  std::promise<int> second;
  int count = 0;
  runtime.on_termination([&](int signal) { (count++ == 0 ? first : second).set_value(signal); });
  runtime.start();
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(first.get_future().get(), SIGTERM);
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(second.get_future().get(), SIGINT);
  runtime.stop();
}

Task<void> count_wakes(Wakeup& wakeup, int& count, std::promise<void>& done) {
  while (count < 1'000) {
    EXPECT_TRUE(co_await wakeup.wait(Millis{60'000}));
    ++count;
  }
  done.set_value();
}

TEST(Runtime, AWakeupFromOtherThreadsIsNeverLost) {
  Runtime runtime(1);
  Wakeup wakeup(runtime.scheduler(0));
  int count = 0;
  std::promise<void> done;
  runtime.start();
  runtime.scheduler(0).post([&] { spawn(count_wakes(wakeup, count, done), [](Outcome<void>) {}); });
  auto ended = done.get_future();
  while (ended.wait_for(std::chrono::seconds(0)) != std::future_status::ready) wakeup.notify();
  runtime.stop();
  EXPECT_EQ(count, 1'000);
}

}  // namespace
}  // namespace presetbridge::net
