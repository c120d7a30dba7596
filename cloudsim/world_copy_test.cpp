#include "world_copy.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/testing.h"

namespace presetbridge::cloudsim {
namespace {

namespace json = boost::json;
using simulator_parts::JsonFields;

const Timestamp start = from_unix_ms(1'790'000'000'000);

class WorldCopyTest : public ::testing::Test {
 protected:
  WorldCopyTest() {
    Merchant& shop = world.put_merchant("m-1", "shop", "Shop@Sim.test", "pw");
    shop.files.emplace("f-1", File{"f-1", "preset", "Lead"});
    shop.files.emplace("f-2", File{"f-2", "capture", "Cab", false});
    const auto friendly = world.put_customer("", "Friend", {Policy::Answer::accept, Millis{0}})->id;
    const auto late = world.put_customer("", "late", {Policy::Answer::accept, Millis{100}})->id;
    world.put_customer("", "blocker", {Policy::Answer::block, Millis{0}});
    world.options().unknown_users = Policy{Policy::Answer::decline, Millis{7}};
    EXPECT_TRUE(world.log_in("shop@sim.test", "pw", start));
    EXPECT_TRUE(world.request_friendship(shop, friendly, start));
    EXPECT_TRUE(world.share(shop, "f-1", friendly, "key-1", start));
    EXPECT_TRUE(world.request_friendship(shop, late, start));
  }
  // Of the world, as text that went somewhere and came back.
  void copy(World& to) {
    const auto text = json::serialize(WorldCopy::of(world));
    const auto parsed = json::parse(text);
    WorldCopy::put(to, JsonFields(parsed));
  }
  static std::vector<std::string> changes_since(World& in, std::string_view cursor, Timestamp now) {
    std::vector<std::string> told;
    EXPECT_TRUE(in.changes(*in.merchant("m-1"), cursor, 10, now,
                           [&](const std::string& id, const FriendshipRecord& record) {
                             told.push_back(id + " " + std::string(to_string(record.state)));
                           }));
    return told;
  }

  presetbridge::testing::SeededRandom random;
  World world{random, {}};
  World other{random, {}};
};

TEST_F(WorldCopyTest, ACopyIsWrittenAsTheOriginal) {
  copy(other);
  EXPECT_EQ(WorldCopy::of(other), WorldCopy::of(world));
}

TEST_F(WorldCopyTest, ACopyGoesOnWhereTheOriginalWas) {
  const auto page = world.changes(*world.merchant("m-1"), {}, 10, start, [](auto&&...) {});
  ASSERT_TRUE(page);
  copy(other);
  EXPECT_EQ(changes_since(other, "", start), (std::vector<std::string>{"u-1 friends", "u-2 requested"}));
  // What was asked for is answered there, and who read the list of changes reads on.
  EXPECT_EQ(changes_since(other, page->next_cursor, start + Millis{99}), std::vector<std::string>{});
  EXPECT_EQ(changes_since(other, page->next_cursor, start + Millis{100}),
            std::vector<std::string>{"u-2 friends"});
  Merchant& shop = *other.merchant("m-1");
  EXPECT_TRUE(other.share(shop, "f-1", "u-1", "key-1", start)->existed);
  EXPECT_EQ(shop.shares.at({"f-1", "u-1"}).made, 1);
  EXPECT_EQ(other.share(shop, "f-2", "u-1", "key-2", start).error().code, "not_shareable");
  EXPECT_TRUE(other.log_in("shop@sim.test", "pw", start));
  EXPECT_EQ((*other.find_user("friend"))->id, "u-1");
  EXPECT_EQ((*other.find_user("nobody"))->policy.answer, Policy::Answer::decline);
  EXPECT_EQ(other.request_friendship(shop, "u-3", start).error().code, "blocked");
}

TEST_F(WorldCopyTest, WhatIsNoCopyChangesNothing) {
  const auto before = WorldCopy::of(world);
  auto broken = before;
  broken["answers"].as_array().at(0).as_object()["merchant"] = "nobody";
  for (const auto& text : {std::string("{}"), json::serialize(broken)}) {
    const auto given = json::parse(text);
    EXPECT_THROW(WorldCopy::put(world, JsonFields(given)), simulator_parts::Problem) << text;
    EXPECT_EQ(WorldCopy::of(world), before);
  }
}

}  // namespace
}  // namespace presetbridge::cloudsim
