// Erasures that a person asks the merchant for, by a username (spec 9.6).
#include <gmock/gmock.h>

#include "services/buyers/customers.h"
#include "services/intake/privacy_testing.h"

namespace presetbridge::services {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Privacy;

class PrivacyByUsername : public Privacy {
 protected:
  std::vector<OrderId> orders_of(const std::string& username) {
    return world
        .await(customers.find(world.scheduler, world.merchant(), {.email = {}, .username = username}, {},
                              kCustomerPage))
        .value()
        .orders;
  }
  void erase(const std::string& username) {
    BulkWorker worker(world.scheduler, world.async_db, world.log, {&customers},
                      [this] { world.worker->wake(); });
    worker.start();
    ASSERT_TRUE(world.await(
        customers.erase(world.scheduler, world.merchant(), {.email = {}, .username = username}, false)));
    worker.wake();
    world.settle();
    bool stopped = false;
    worker.stop([&] { stopped = true; });
    world.settle();
    ASSERT_TRUE(stopped);
  }
  Expected<DeliveryView> rename(DeliveryId id, const std::string& username) {
    return world.await(world.actions.retry(world.scheduler, world.merchant(), id, username));
  }
  static OrderId order_of(DeliveryId id) { return OrderId{id.value}; }

  BulkJobs jobs{world.async_db, world.ids, [] {}};
  Customers customers{world.async_db, world.changes, jobs};
};

TEST_F(PrivacyByUsername, AnOrderWhoseBuyerTypedAStrangersNameIsNotTheStrangers) {
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_THAT(orders_of("ann"), ElementsAre(order_of(id))) << "until somebody corrects it";
  ASSERT_TRUE(rename(id, "Bob"));
  world.settle();
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_THAT(orders_of("ann"), IsEmpty());
  EXPECT_THAT(orders_of("bob"), ElementsAre(order_of(id)));

  erase("Ann");
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.delivery(id).username, "Bob");
  world.cloud.accept("u-bob");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.cloud.shares.contains({"u-bob", "file-1"}));

  erase("Bob");
  EXPECT_THAT(orders_of("bob"), IsEmpty());
  EXPECT_EQ(everything().find("Bob"), std::string::npos) << everything();
}

TEST_F(PrivacyByUsername, AnOrderThatGaveAFileIsAlsoThatOfWhoGotIt) {
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "completed");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(rename(id, "Bob"));
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  world.settle();
  ASSERT_TRUE(world.cloud.shares.contains({"u-bob", "file-1"}));
  EXPECT_THAT(orders_of("ann"), ElementsAre(order_of(id)));
  EXPECT_THAT(orders_of("bob"), ElementsAre(order_of(id)));
  erase("Ann");
  EXPECT_THAT(orders_of("ann"), IsEmpty());
  EXPECT_THAT(orders_of("bob"), IsEmpty());
  EXPECT_EQ(everything().find("Ann"), std::string::npos) << everything();
}

TEST_F(PrivacyByUsername, AnOrderWithoutADeliveryIsThatOfItsOwnName) {
  ASSERT_FALSE(world.accept(world.order("1", "Ann", {"nothing"})).delivery);
  EXPECT_EQ(orders_of("Ann").size(), 1U);
  EXPECT_THAT(orders_of("Bob"), IsEmpty());
  erase("Ann");
  EXPECT_THAT(orders_of("Ann"), IsEmpty());
}

}  // namespace
}  // namespace presetbridge::services
