// How often a customer gets a friend request (spec 3.5), and that each request is reported (spec 10.1).
#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;
using cloud::FriendshipState;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

// Two deliveries of one customer, who has declined, or not answered.
class FriendRequests : public ::testing::Test {
 protected:
  FriendRequests() {
    world_.cloud.auto_accept = false;
    first_ = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
    second_ = world_.deliver(world_.order("2", "Ann", {"sku-2"}));
  }
  void decline() {
    world_.cloud.change("u-ann", FriendshipState::declined);
    world_.settle(2min);
    for (const auto id : {first_, second_}) ASSERT_EQ(world_.status(id), "failed friend_request_declined");
  }
  void retry(DeliveryId id) {
    ASSERT_TRUE(world_.await(world_.actions.retry(world_.scheduler, world_.merchant(), id, std::nullopt)));
  }
  void expect_both_wait_for_request(int number) {
    EXPECT_EQ(world_.cloud.requests["u-ann"], number);
    for (const auto id : {first_, second_}) {
      EXPECT_EQ(world_.status(id), "waiting_for_friendship");
      EXPECT_EQ(world_.delivery(id).requests_sent, number) << "each request is reported once";
    }
  }

  World world_;
  DeliveryId first_;
  DeliveryId second_;
};

TEST_F(FriendRequests, RetryingEachOfABuyersDeliveriesAsksOnce) {
  decline();
  retry(first_);
  world_.settle();
  ASSERT_EQ(world_.status(first_), "waiting_for_friendship");
  retry(second_);
  world_.settle();
  expect_both_wait_for_request(2);
  EXPECT_EQ(world_.cloud.withdrawals["u-ann"], 0) << "the request that stands is the new one";
}

TEST_F(FriendRequests, RetryingTheOtherWhileTheRequestIsOnItsWayAsksOnce) {
  decline();
  bool held = false;
  world_.cloud.before = [&](auto& call, auto&) {
    return call == "request" ? once(held, Fate::hold_done) : Fate::answer;
  };
  retry(first_);
  world_.settle();
  ASSERT_TRUE(held);
  retry(second_);
  world_.settle();
  world_.cloud.release();
  world_.settle();
  expect_both_wait_for_request(2);
  EXPECT_EQ(world_.cloud.withdrawals["u-ann"], 0);
}

TEST_F(FriendRequests, RetryingAThirdWhileTheRequestIsOnItsWayAsksNoMore) {
  decline();
  const auto third = world_.deliver(world_.order("3", "Ann", {"sku-3"}));
  ASSERT_EQ(world_.status(third), "failed friend_request_declined");
  bool held = false;
  world_.cloud.before = [&](auto& call, auto&) {
    return call == "request" ? once(held, Fate::hold_done) : Fate::answer;
  };
  retry(first_);
  world_.settle();
  ASSERT_TRUE(held);
  retry(second_);
  retry(third);
  world_.settle();
  world_.cloud.release();
  world_.settle();
  expect_both_wait_for_request(2);
  EXPECT_EQ(world_.status(third), "waiting_for_friendship");
  EXPECT_EQ(world_.cloud.withdrawals["u-ann"], 0);
}

TEST_F(FriendRequests, AFailureThatTheJobReportedIsOlderThanTheNewRequestToo) {
  decline();
  const auto third = world_.deliver(world_.order("3", "Ann", {"sku-3"}));
  ASSERT_EQ(world_.status(third), "failed friend_request_declined");
  retry(first_);
  world_.settle();
  // A later change of the delivery does not make its failure younger.
  ASSERT_TRUE(world_.await(world_.actions.renew_link(world_.scheduler, world_.merchant(), third)));
  retry(third);
  world_.settle();
  EXPECT_EQ(world_.status(third), "waiting_for_friendship");
  EXPECT_EQ(world_.cloud.requests["u-ann"], 2);
}

TEST_F(FriendRequests, RetryingEachAfterATimeoutAsksOnce) {
  world_.settle(std::chrono::days{15});
  for (const auto id : {first_, second_}) ASSERT_EQ(world_.status(id), "failed friendship_timeout");
  retry(first_);
  world_.settle();
  retry(second_);
  world_.settle();
  expect_both_wait_for_request(2);
  EXPECT_EQ(world_.cloud.withdrawals["u-ann"], 1);
}

// The buyer has as long again, and one who accepts is delivered to.
TEST_F(FriendRequests, ARetryThatKeepsTheRequestWaitsForItAsLongAgain) {
  const auto keep = [&](DeliveryId id) {
    return world_.await(
        world_.actions.retry(world_.scheduler, world_.merchant(), id, std::nullopt, FriendRequest::keep));
  };
  EXPECT_EQ(keep(first_).error().code, "INVALID_TRANSITION");  // it waits still
  world_.settle(std::chrono::days{15});
  for (const auto id : {first_, second_}) {
    ASSERT_EQ(world_.status(id), "failed friendship_timeout");
    ASSERT_TRUE(keep(id));
  }
  world_.settle(std::chrono::days{13});
  expect_both_wait_for_request(1);
  EXPECT_EQ(world_.cloud.withdrawals["u-ann"], 0);
  world_.settle(std::chrono::days{2});
  ASSERT_EQ(world_.status(first_), "failed friendship_timeout");
  ASSERT_TRUE(keep(first_));
  world_.settle(1min);
  world_.cloud.change("u-ann", FriendshipState::friends);
  world_.settle(2h);
  for (const auto id : {first_, second_}) EXPECT_EQ(world_.status(id), "completed");
  EXPECT_EQ(world_.cloud.requests["u-ann"], 1);
}

TEST_F(FriendRequests, ARetryThatKeepsARequestThatIsGoneSendsAnother) {
  world_.settle(std::chrono::days{15});
  ASSERT_EQ(world_.status(first_), "failed friendship_timeout");
  world_.cloud.change("u-ann", FriendshipState::none);
  ASSERT_TRUE(world_.await(
      world_.actions.retry(world_.scheduler, world_.merchant(), first_, std::nullopt, FriendRequest::keep)));
  world_.settle();
  EXPECT_EQ(world_.status(first_), "waiting_for_friendship");
  EXPECT_EQ(world_.cloud.requests["u-ann"], 2);
}

TEST_F(FriendRequests, ARetryThatWasInvalidatedBeforeItAskedLeavesTheRequestForTheNextOrder) {
  world_.settle(std::chrono::days{15});
  ASSERT_EQ(world_.status(first_), "failed friendship_timeout");
  world_.hold_queue();
  retry(first_);
  ASSERT_TRUE(
      world_.await(world_.actions.invalidate(world_.scheduler, world_.merchant(), first_, "mistaken")));
  const auto third = world_.deliver(world_.order("3", "Ann", {"sku-3"}));
  EXPECT_EQ(world_.status(third), "waiting_for_friendship");
  EXPECT_EQ(world_.cloud.withdrawals["u-ann"], 0);
  EXPECT_EQ(world_.cloud.requests["u-ann"], 1);
}

TEST_F(FriendRequests, ARetryAfterTheNewRequestWasDeclinedToAsksAnew) {
  decline();
  retry(first_);
  world_.settle();
  world_.settle(1min);
  world_.cloud.change("u-ann", FriendshipState::declined);
  world_.settle(2min);
  ASSERT_EQ(world_.status(first_), "failed friend_request_declined");
  retry(second_);
  world_.settle();
  EXPECT_EQ(world_.status(second_), "waiting_for_friendship");
  EXPECT_EQ(world_.cloud.requests["u-ann"], 3);
}

// The page was read before the request was made, and is taken in after it.
TEST_F(FriendRequests, APageOfBeforeTheNewRequestDoesNotEndIt) {
  bool held = false;
  world_.cloud.before = [&](auto& call, auto&) {
    return call == "sweep" ? once(held, Fate::hold_done) : Fate::answer;
  };
  world_.cloud.change("u-ann", FriendshipState::declined);
  while (!held) world_.settle(1s);
  // A job learns of the refusal first.
  world_.write([](storage::Tx& tx) { tx.exec({"UPDATE customers SET friendship = 'unknown'"}); });
  const auto third = world_.deliver(world_.order("3", "Ann", {"sku-3"}));
  ASSERT_EQ(world_.status(third), "failed friend_request_declined");
  retry(first_);
  world_.settle();
  ASSERT_EQ(world_.status(first_), "waiting_for_friendship");
  ASSERT_EQ(world_.cloud.requests["u-ann"], 2);
  const auto before = world_.delivery(first_).sequence;
  world_.cloud.release();
  world_.settle(10s);
  EXPECT_EQ(world_.status(first_), "waiting_for_friendship") << "it stands";
  EXPECT_EQ(world_.delivery(first_).sequence, before) << "and is not reported again";
  EXPECT_EQ(world_.cloud.requests["u-ann"], 2);
  world_.cloud.accept("u-ann");
  world_.settle(2min);
  EXPECT_EQ(world_.status(first_), "completed");
}

TEST_F(FriendRequests, APageThatShowedTheNewRequestsRefusalIsLookedUpAndEndsIt) {
  decline();
  bool held = false;
  world_.cloud.before = [&](auto& call, auto&) {
    return call == "request" ? once(held, Fate::hold_done) : Fate::answer;
  };
  retry(first_);
  world_.settle();
  ASSERT_TRUE(held);
  world_.cloud.release();
  world_.cloud.change("u-ann", FriendshipState::declined);
  world_.settle(3min);
  EXPECT_EQ(world_.status(first_), "failed friend_request_declined");
  EXPECT_EQ(world_.cloud.requests["u-ann"], 2);
}

}  // namespace
}  // namespace presetbridge::services
