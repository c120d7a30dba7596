#include "identity/password_workers.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <optional>

namespace presetbridge::identity {
namespace {

// Holds up whoever posts to it until it is opened.
class Gate final : public Executor {
 public:
  void post(Callback callback) override {
    reached.set_value();
    opened.get_future().wait();
    callback();
  }
  std::promise<void> reached;
  std::promise<void> opened;
};

// Runs what is posted, and counts.
class Counting final : public Executor {
 public:
  explicit Counting(int expected) : left_(expected) {}
  void post(Callback callback) override {
    callback();
    if (--left_ == 0) all.set_value();
  }
  std::promise<void> all;

 private:
  int left_;
};

TEST(PasswordWorkers, AStopRefusesWhatWaitsAndFinishesWhatRuns) {
  const crypto::PasswordHasher hasher(crypto::PasswordCost{1, 8192});
  PasswordWorkers workers(hasher, {.threads = 1});
  Gate gate;
  Counting counting(2);
  std::array<std::optional<Expected<std::string>>, 3> hashed;
  const auto start = [&](std::size_t i, Executor& executor) {
    spawn(workers.hash(executor, "correct horse battery"),
          [&hashed, i](Outcome<Expected<std::string>> outcome) { hashed[i] = std::move(outcome.value); });
  };
  start(0, gate);
  gate.reached.get_future().wait();  // the only thread is held up: the next two wait
  start(1, counting);
  start(2, counting);
  auto stopping = std::async(std::launch::async, [&] { workers.stop(); });
  // Those who wait are answered while the first still runs.
  EXPECT_EQ(counting.all.get_future().wait_for(std::chrono::seconds{30}), std::future_status::ready);
  gate.opened.set_value();
  stopping.wait();
  ASSERT_TRUE(hashed[0] && hashed[1] && hashed[2]);
  EXPECT_TRUE(*hashed[0]);
  EXPECT_EQ(hashed[1]->error().code, "OVERLOADED");
  EXPECT_EQ(hashed[2]->error().code, "OVERLOADED");
}

}  // namespace
}  // namespace presetbridge::identity
