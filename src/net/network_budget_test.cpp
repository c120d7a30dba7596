#include "net/network_budget.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace presetbridge::net {
namespace {

using presetbridge::testing::ManualClock;

HttpRequest from(std::string peer, std::string forwarded = {}) {
  HttpRequest request;
  request.remote_address = std::move(peer);
  if (!forwarded.empty()) request.headers.add("X-Forwarded-For", std::move(forwarded));
  return request;
}

constexpr Millis kNow{0};

class NetworkBudgetTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  NetworkBudget budget_{clock_, {*IpNetwork::parse("10.0.0.1")}, {.failures = 3, .window = Millis{60'000}}};
  void fail(const HttpRequest& request, int times) {
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(budget_.wait(request), kNow) << i;
      budget_.count(request);
    }
  }
};

TEST_F(NetworkBudgetTest, FailuresComeBackEvenlyOverTheWindow) {
  const auto stranger = from("198.51.100.7");
  fail(stranger, 3);
  EXPECT_EQ(budget_.wait(stranger), Millis{20'000});
  clock_.advance(Millis{19'999});
  EXPECT_EQ(budget_.wait(stranger), Millis{1});
  clock_.advance(Millis{1});
  fail(stranger, 1);
  EXPECT_EQ(budget_.wait(stranger), Millis{20'000});
  clock_.advance(Millis{60'000});
  fail(stranger, 3);
  EXPECT_EQ(budget_.wait(stranger), Millis{20'000});
}

TEST_F(NetworkBudgetTest, AskingCostsNothingAndOthersAreNotTouched) {
  fail(from("198.51.100.7"), 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(budget_.wait(from("198.51.100.7")), Millis{20'000});
  fail(from("198.51.100.8"), 3);
}

TEST_F(NetworkBudgetTest, ANetworkOfIPv6IsItsFirst64BitsAndANamedProxysWordIsTaken) {
  fail(from("2001:db8:1:2::1"), 1);
  fail(from("10.0.0.1", "2001:db8:1:2:ffff::9"), 1);
  fail(from("2001:db8:1:2:3::4"), 1);
  EXPECT_GT(budget_.wait(from("2001:db8:1:2::5")), kNow);
  EXPECT_EQ(budget_.wait(from("2001:db8:1:3::1")), kNow);
  EXPECT_GT(budget_.wait(from("10.0.0.1", "2001:db8:1:2::1")), kNow);
  EXPECT_EQ(budget_.wait(from("10.0.0.2", "2001:db8:1:2::1")), kNow) << "nobody's word";
}

TEST_F(NetworkBudgetTest, WhoMaySpeakForOthersIsNeverRefused) {
  for (const char* peer : {"127.0.0.1", "::1", "10.0.0.1", ""}) fail(from(peer), 50);
  EXPECT_EQ(budget_.networks(), 0U);
}

TEST_F(NetworkBudgetTest, FailuresOfRequestsThatRanAtOnceMakeTheWaitNoLonger) {
  for (int i = 0; i < 500; ++i) budget_.count(from("198.51.100.7"));
  EXPECT_EQ(budget_.wait(from("198.51.100.7")), Millis{20'000});
}

TEST_F(NetworkBudgetTest, AClockThatIsSetBackMakesNobodyWaitLongerThanTheWindow) {
  fail(from("198.51.100.7"), 3);
  clock_.set(clock_.now() - std::chrono::hours{24});
  EXPECT_EQ(budget_.wait(from("198.51.100.7")), Millis{20'000});
  clock_.advance(Millis{60'000});
  EXPECT_LE(budget_.wait(from("198.51.100.7")), Millis{20'000});
  clock_.advance(Millis{60'000});
  EXPECT_EQ(budget_.wait(from("198.51.100.7")), kNow);
}

TEST_F(NetworkBudgetTest, NothingIsKeptOfNetworksThatFailedLongAgo) {
  for (int i = 0; i < 200; ++i) budget_.count(from("198.51.100." + std::to_string(i)));
  EXPECT_EQ(budget_.networks(), 200U);
  for (int i = 0; i < 2; ++i) {
    clock_.advance(Millis{60'000});
    EXPECT_EQ(budget_.wait(from("203.0.113.1")), kNow);
  }
  EXPECT_EQ(budget_.networks(), 0U);
}

TEST_F(NetworkBudgetTest, HoldsSoManyNetworksAndForgetsTheOldestFirst) {
  NetworkBudget small(clock_, {}, {.failures = 1, .window = Millis{60'000}, .networks = 100});
  for (int i = 0; i < 10'000; ++i) {
    const auto peer = "10." + std::to_string(i / 250 / 250) + "." + std::to_string(i / 250 % 250) + "." +
                      std::to_string(i % 250);
    small.count(from(peer));
    ASSERT_LE(small.networks(), 100U);
    ASSERT_GT(small.wait(from(peer)), kNow);
  }
}

}  // namespace
}  // namespace presetbridge::net
