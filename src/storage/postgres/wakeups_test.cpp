#include "storage/postgres/wakeups.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using namespace std::chrono_literals;

// The notifications of a node.
class Ear {
 public:
  void hear() {
    const std::lock_guard lock(mutex_);
    ++heard_;
    changed_.notify_all();
  }
  // Waits until there were so many notifications; returns how many there were by then.
  int wait_for(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 60s, [&] { return heard_ >= times; });
    return heard_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int heard_ = 0;
};

class WakeupsTest : public ::testing::Test {
 protected:
  struct Node {
    Node(const testing::TemporaryPostgres& server, Millis debounce)
        : wakeups({.url = server.url(), .debounce = debounce, .connect_timeout = 60s}, log,
                  [this] { ear.hear(); }) {
      if (ear.wait_for(1) != 1) throw std::runtime_error("the node does not listen");  // once connected
    }
    NullLog log;
    Ear ear;
    Wakeups wakeups;
  };

  testing::TemporaryPostgres server_;
};

TEST_F(WakeupsTest, ANodeHearsOfTheOthersWorkAndNotOfItsOwn) {
  Node one(server_, 1ms);
  Node other(server_, 1ms);
  one.wakeups.notify();
  EXPECT_EQ(other.ear.wait_for(2), 2);
  other.wakeups.notify();
  EXPECT_EQ(one.ear.wait_for(2), 2) << "connected, and notified by the other once";
  EXPECT_EQ(other.ear.wait_for(2), 2);
}

TEST_F(WakeupsTest, CallsInQuickSuccessionAreOneNotification) {
  Node one(server_, 1h);
  Node other(server_, 1ms);
  Node last(server_, 1ms);
  one.wakeups.notify();
  ASSERT_EQ(other.ear.wait_for(2), 2);
  for (int i = 0; i < 100; ++i) one.wakeups.notify();
  // Its thread has run by the time when it gets a notification that was sent after them.
  last.wakeups.notify();
  ASSERT_EQ(one.ear.wait_for(2), 2);
  // Two notifications that arrive together are one call.
  ASSERT_EQ(other.ear.wait_for(3), 3);
  last.wakeups.notify();
  EXPECT_EQ(other.ear.wait_for(4), 4) << "connected, notified by one, and twice by the last";
}

TEST_F(WakeupsTest, AConnectionThatIsLostIsMadeAgainAndMissedWorkIsPolledFor) {
  Node one(server_, 1ms);
  Node other(server_, 1ms);
  server_.run(
      "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity"
      " WHERE datname = current_database() AND pid <> pg_backend_pid()");
  EXPECT_EQ(one.ear.wait_for(2), 2);
  EXPECT_EQ(other.ear.wait_for(2), 2);
  one.wakeups.notify();
  EXPECT_EQ(other.ear.wait_for(3), 3);
}

}  // namespace
}  // namespace presetbridge::storage
