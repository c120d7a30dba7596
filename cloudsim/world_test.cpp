#include "world.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace presetbridge::cloudsim {
namespace {

const Timestamp start = from_unix_ms(1'790'000'000'000);

class WorldTest : public ::testing::Test {
 protected:
  presetbridge::testing::SeededRandom random;
  World world{random, {}};
  Merchant& shop = world.put_merchant("m-1", "shop", "Shop@Sim.test", "pw");

  std::string customer(const std::string& name, Policy policy) {
    return world.put_customer("", name, policy)->id;
  }
};

TEST_F(WorldTest, ADelayedAcceptanceComesAtItsTime) {
  const auto ann = customer("ann", {Policy::Answer::accept, Millis{100}});
  EXPECT_EQ(world.request_friendship(shop, ann, start), Friendship::requested);
  EXPECT_EQ(world.request_friendship(shop, ann, start), Friendship::requested);
  EXPECT_EQ(world.friendship(shop, ann, start + Millis{99}), Friendship::requested);
  EXPECT_EQ(world.friendship(shop, ann, start + Millis{100}), Friendship::friends);
  EXPECT_EQ(shop.friendships.at(ann).requests, 1);
  EXPECT_EQ(shop.friendships.at(ann).repeats, 1);
  EXPECT_EQ(shop.friendships.at(ann).changed_at, start + Millis{100});
}

TEST_F(WorldTest, AWithdrawnRequestIsNotAcceptedLater) {
  const auto ann = customer("ann", {Policy::Answer::accept, Millis{100}});
  ASSERT_TRUE(world.request_friendship(shop, ann, start));
  ASSERT_TRUE(world.withdraw(shop, ann, start + Millis{50}));
  EXPECT_EQ(world.friendship(shop, ann, start + Millis{200}), Friendship::none);
  ASSERT_TRUE(world.request_friendship(shop, ann, start + Millis{200}));
  EXPECT_EQ(world.friendship(shop, ann, start + Millis{299}), Friendship::requested);
  EXPECT_EQ(world.friendship(shop, ann, start + Millis{300}), Friendship::friends);
}

TEST_F(WorldTest, SessionsEnd) {
  const auto session = world.log_in("shop@sim.test", "pw", start);
  ASSERT_TRUE(session);
  EXPECT_TRUE(world.authenticate(session->token, start + Millis{3'599'999}));
  EXPECT_FALSE(world.authenticate(session->token, start + Millis{3'600'000}));
  EXPECT_FALSE(world.log_in("shop@sim.test", "PW", start));
}

TEST_F(WorldTest, AnInventedIdIsNeverAnothers) {
  ASSERT_TRUE(world.put_customer("u-1", "first", {}));
  ASSERT_TRUE(world.put_customer("u-2", "second", {}));
  EXPECT_EQ(world.put_customer("u-1", "thief", {}), nullptr);
  EXPECT_EQ(customer("third", {}), "u-3");
  EXPECT_EQ(world.customers(), 3U);
}

TEST_F(WorldTest, UnknownUsersComeToBeWhereThatIsWanted) {
  EXPECT_FALSE(world.find_user("new"));
  world.options().unknown_users = Policy{};
  ASSERT_TRUE(world.find_user("new"));
  EXPECT_EQ(world.find_user("New").value()->username, "new");
  EXPECT_EQ(world.customers(), 1U);
}

}  // namespace
}  // namespace presetbridge::cloudsim
