#include "identity/password_workers.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
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
  const auto seat = *workers.seat({});
  Gate gate;
  Counting counting(2);
  std::array<std::optional<Expected<std::string>>, 3> hashed;
  const auto start = [&](std::size_t i, Executor& executor) {
    spawn(workers.hash(executor, seat, "correct horse battery"),
          [&hashed, i](Outcome<Expected<std::string>> outcome) { hashed[i] = std::move(outcome.value); });
  };
  start(0, gate);
  gate.reached.get_future().wait();  // the only thread is held up: the next two wait
  start(1, counting);
  start(2, counting);
  auto stopping = std::async(std::launch::async, [&] { workers.stop(); });
  // Waiting callers are answered while the first still runs.
  EXPECT_EQ(counting.all.get_future().wait_for(std::chrono::seconds{30}), std::future_status::ready);
  gate.opened.set_value();
  stopping.wait();
  ASSERT_TRUE(hashed[0] && hashed[1] && hashed[2]);
  EXPECT_TRUE(*hashed[0]);
  EXPECT_EQ(hashed[1]->error().code, "OVERLOADED");
  EXPECT_EQ(hashed[2]->error().code, "OVERLOADED");
}

// One thread that is held up, and a queue that fills behind it; notes whose password was hashed, and who was
// refused, in order.
class FairQueue : public ::testing::Test {
 protected:
  explicit FairQueue(std::size_t max_queue = 6) : workers_(hasher_, {.threads = 1, .max_queue = max_queue}) {
    hold_up();
  }
  ~FairQueue() override { workers_.stop(); }

  static net::Caller caller(std::string network) { return {std::move(network), false}; }
  static net::Caller speaking_for_others(std::string network) { return {std::move(network), true}; }
  // Comes as a caller that speaks for others, and so may take any number of seats.
  void come(const std::string& network) {
    seats_.push_back(std::make_unique<PasswordWorkers::Seat>(*workers_.seat(speaking_for_others(network))));
    ++coming_;
    spawn(workers_.hash(inline_, *seats_.back(), "correct horse battery"),
          [this, network](Outcome<Expected<std::string>> outcome) {
            const std::scoped_lock lock(mutex_);
            (*outcome.value ? hashed_ : refused_) += network;
            if (--coming_ == 0) all_.set_value();
          });
  }
  void let_go() {
    gate_.opened.set_value();
    EXPECT_EQ(all_.get_future().wait_for(std::chrono::seconds{30}), std::future_status::ready);
  }

  class Inline final : public Executor {
   public:
    void post(Callback callback) override { callback(); }
  };
  const crypto::PasswordHasher hasher_{crypto::PasswordCost{1, 8192}};
  Gate gate_;
  Inline inline_;
  std::deque<std::unique_ptr<PasswordWorkers::Seat>> seats_;
  std::atomic<int> coming_{0};
  std::promise<void> all_;
  std::mutex mutex_;
  std::string hashed_;
  std::string refused_;
  PasswordWorkers workers_;

 private:
  void hold_up() {
    seats_.push_back(std::make_unique<PasswordWorkers::Seat>(*workers_.seat({})));
    spawn(workers_.hash(gate_, *seats_.back(), "correct horse battery"), [](const auto&) {});
    gate_.reached.get_future().wait();
  }
};

TEST_F(FairQueue, NetworksTakeTurns) {
  for (const char* network : {"a", "a", "a", "b", "c", "b"}) come(network);
  let_go();
  EXPECT_EQ(hashed_, "abcaba");
  EXPECT_EQ(refused_, "");
}

TEST_F(FairQueue, OfAFullQueueTheNetworkWithMostInItGivesWay) {
  for (int i = 0; i < 6; ++i) come("a");
  come("a");
  EXPECT_EQ(refused_, "a") << "its own newcomer";
  for (int i = 0; i < 3; ++i) come("b");
  EXPECT_EQ(refused_, "aaaa");
  come("b");
  EXPECT_EQ(refused_, "aaaab") << "both have three";
  come("c");
  EXPECT_EQ(refused_.size(), 6U);
  come("c");
  come("c");
  EXPECT_EQ(refused_.size(), 8U);
  EXPECT_EQ(refused_.back(), 'c') << "two each";
  let_go();
  EXPECT_EQ(hashed_.substr(0, 3), "abc");
  EXPECT_EQ(hashed_.size(), 6U);
}

TEST_F(FairQueue, ANewcomerIsHeardUntilEveryPlaceIsAnotherNetworks) {
  for (int i = 0; i < 6; ++i) come(std::string(1, static_cast<char>('a' + i)));
  come("x");
  EXPECT_EQ(refused_, "x");
  let_go();
  EXPECT_EQ(hashed_, "abcdef");
}

TEST(PasswordSeats, ANetworkHasAnEighthOfThePlaces) {
  const crypto::PasswordHasher hasher(crypto::PasswordCost{1, 8192});
  PasswordWorkers workers(hasher, {.threads = 2, .max_queue = 64});
  const net::Caller stranger{"198.51.100.7", false};
  std::deque<PasswordWorkers::Seat> seats;
  for (int i = 0; i < 8; ++i) seats.push_back(*workers.seat(stranger));
  for (int i = 0; i < 3; ++i) {
    const auto refused = workers.seat(stranger);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "RATE_LIMIT_EXCEEDED");
    EXPECT_EQ(refused.error().retry_after, Millis{1'000});
  }
  EXPECT_TRUE(workers.seat({"198.51.100.8", false}));
  seats.pop_front();
  EXPECT_TRUE(workers.seat(stranger)) << "one is free again";
  for (int i = 0; i < 100; ++i) seats.push_back(*workers.seat({"127.0.0.1", true}));
}

}  // namespace
}  // namespace presetbridge::identity
