// Many open orders of one buyer are worked on in bounded steps (spec 8.6), and all of them come to their end.
#include <gtest/gtest.h>

#include "services/delivery/delivery_set.h"
#include "services/testing.h"

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;
using testing::World;
using Fate = testing::FakeCloud::Fate;

constexpr storage::Sql kInProcessing{"SELECT count(*) FROM deliveries WHERE status = 'processing'"};
constexpr storage::Sql kOfStatus{"SELECT count(*) FROM deliveries WHERE status = $1"};
constexpr storage::Sql kOfResolution{"SELECT count(*) FROM deliveries WHERE resolution_code = $1"};

class ManyOrders : public ::testing::Test {
 protected:
  void order(int count, const std::string& sku) {
    for (int i = 0; i < count; ++i) world.accept(world.order(sku + "/" + std::to_string(i), "Ann", {sku}));
  }
  template <class... P>
  std::int64_t count(const storage::Sql& sql, const P&... params) {
    return world.write([&](storage::Tx& tx) {
      return tx.one(sql, params..., [](const storage::Row& row) { return row.int64(0); }).value();
    });
  }

  World world{WorkerOptions{.jobs_per_minute = 0, .poll = 30min, .maintenance = 5min}};
};

TEST_F(ManyOrders, AJobHasAHundredAndTheOthersFollow) {
  std::int64_t most = 0;
  world.cloud.before = [&](auto&, auto&) {
    most = std::max(most, count(kInProcessing));
    return Fate::answer;
  };
  world.hold_queue();
  order(250, "sku-1");
  world.settle();
  EXPECT_EQ(count(kOfStatus, "completed"), 250);
  EXPECT_EQ(most, static_cast<std::int64_t>(kMostDeliveriesOfJob));
  testing::expect_books_balance(world);
}

TEST_F(ManyOrders, AllThatWaitAreDeliveredOnceTheBuyerAccepts) {
  world.cloud.auto_accept = false;
  order(kMostOpenOfCustomer + 50, "sku-1");
  world.settle();
  EXPECT_EQ(count(kOfStatus, "waiting_for_friendship"), kMostOpenOfCustomer + 50);
  world.cloud.accept("u-ann");
  world.settle(1h);
  EXPECT_EQ(count(kOfStatus, "completed"), kMostOpenOfCustomer + 50);
  testing::expect_books_balance(world);
}

TEST_F(ManyOrders, AllOfANameThatLeadsToAKnownBuyerAreDelivered) {
  world.cloud.other_ids = {{"Annie", "u-ann"}};
  world.deliver(world.order("first", "Ann", {"sku-1"}));
  world.hold_queue();
  for (int i = 0; i < kMostOpenOfCustomer + 50; ++i)
    world.accept(world.order(std::to_string(i), "Annie", {"sku-1"}));
  world.settle(1h);
  EXPECT_EQ(count(kOfStatus, "completed"), kMostOpenOfCustomer + 51);
  testing::expect_books_balance(world);
}

TEST_F(ManyOrders, AllThatTimedOutResumeOnceTheBuyerAccepts) {
  constexpr int kMany = 2 * kMostOpenOfCustomer + 50;
  world.cloud.auto_accept = false;
  order(kMany, "sku-1");
  world.settle();
  world.settle(15 * 24h);
  ASSERT_EQ(count(kOfResolution, "friendship_timeout"), kMany);
  world.cloud.accept("u-ann");
  world.settle(2h);
  EXPECT_EQ(count(kOfStatus, "completed"), kMany);
  testing::expect_books_balance(world);
}

TEST_F(ManyOrders, AllThatWaitFailOnceTheBuyerDeclines) {
  world.cloud.auto_accept = false;
  order(kMostOpenOfCustomer + 50, "sku-1");
  world.settle();
  world.cloud.change("u-ann", cloud::FriendshipState::declined);
  world.settle(1h);
  EXPECT_EQ(count(kOfResolution, "friend_request_declined"), kMostOpenOfCustomer + 50);
}

}  // namespace
}  // namespace presetbridge::services
