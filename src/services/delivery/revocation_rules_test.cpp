// Files that were perhaps taken back: a revocation ended without a known result, and the order is paid again
// (spec 3.10).
#include "services/delivery/items_rules_testing.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::expect_books_balance;
using testing::ItemsRules;
using testing::later;
using testing::now;
using testing::World;
using Fate = testing::FakeCloud::Fate;

TEST_F(ItemsRules, WhoPaysAgainHasTheFileThoughNobodyKnowsWhetherItWasTakenBack) {
  using namespace std::chrono_literals;
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late ? "paid after the platform was given up" : "paid meanwhile");
    World world{WorkerOptions{.jobs_per_minute = 0, .poll = 30min, .maintenance = 5min}};
    world.auto_revoke();
    auto event = later(world, "1", {"sku-1"}, 0);
    const auto id = world.deliver(event);
    world.cloud.before = [](auto& call, auto&) {
      return call == "revoke" ? Fate::lose_answer : Fate::answer;
    };
    world.accept(now(event, 1, domain::Payment::refunded));
    world.settle();
    if (!late) world.accept(now(event, 2, domain::Payment::deliver));
    world.settle(75h);
    if (late) {
      ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed);
      world.accept(now(event, 2, domain::Payment::deliver));
      world.settle();
    }
    EXPECT_EQ(world.status(id), "completed");
    EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
    EXPECT_EQ(world.cloud.shares.size(), 1u);
    EXPECT_EQ(world.balance().spent, 1);
    EXPECT_EQ(world.balance().held, 0);
  }
}

TEST_F(ItemsRules, WhatPerhapsWasTakenBackStaysKnownUntilTheMerchantDecides) {
  using namespace std::chrono_literals;
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late ? "paid after the platform was given up" : "paid meanwhile");
    World world{WorkerOptions{.jobs_per_minute = 0, .poll = 30min, .maintenance = 5min}};
    world.auto_revoke();
    auto event = later(world, "1", {"sku-1"}, 0);
    const auto id = world.deliver(event);
    world.cloud.before = [](auto& call, auto&) {
      return call == "revoke" ? Fate::lose_request : Fate::answer;
    };
    world.accept(now(event, 1, domain::Payment::refunded));
    world.settle();
    ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
    if (!late) world.accept(now(event, 2, domain::Payment::deliver));
    world.settle(75h);
    if (late) world.accept(now(event, 2, domain::Payment::deliver));
    ASSERT_EQ(world.status(id), "in_review");
    EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed) << "it can be taken back by hand";
    ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
    world.settle();
    EXPECT_EQ(world.status(id), "completed");
    EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
    expect_books_balance(world);
  }
}

// An order that was refunded, whose revocation ended so, and which was paid again.
struct PaidAgain {
  using Fate = testing::FakeCloud::Fate;
  explicit PaidAgain(Fate of_revocation) {
    using namespace std::chrono_literals;
    world.auto_revoke();
    id = world.deliver(event);
    world.cloud.before = [of_revocation](auto& call, auto&) {
      return call == "revoke" ? of_revocation : Fate::answer;
    };
    world.accept(now(event, 1, domain::Payment::refunded));
    world.settle(75h);
    EXPECT_EQ(item().status, ItemStatus::revoke_failed);
    world.cloud.before = nullptr;
  }
  storage::ItemRow item() { return world.items(id).front(); }

  World world{WorkerOptions{
      .jobs_per_minute = 0, .poll = std::chrono::minutes{30}, .maintenance = std::chrono::minutes{5}}};
  domain::OrderEvent event = later(world, "1", {"sku-1"}, 0);
  DeliveryId id;
};

TEST_F(ItemsRules, WhatPerhapsWasTakenBackIsTakenBackWithTheNextRefundToo) {
  PaidAgain paid(Fate::lose_request);
  auto& world = paid.world;
  world.hold_queue();
  world.accept(now(paid.event, 2, domain::Payment::deliver));
  ASSERT_EQ(paid.item().status, ItemStatus::owed);
  world.accept(now(paid.event, 3, domain::Payment::refunded));
  world.settle(std::chrono::hours{25});
  EXPECT_TRUE(world.cloud.shares.empty()) << "who was refunded keeps nothing";
  EXPECT_EQ(paid.item().status, ItemStatus::revoked);
  expect_books_balance(world);
}

TEST_F(ItemsRules, WhatPerhapsWasTakenBackIsTakenBackThoughThePlatformRefusedToShareItAgain) {
  for (const Fate fate : {Fate::rate_limit, Fate::refuse_session, Fate::user_gone}) {
    SCOPED_TRACE(static_cast<int>(fate));
    PaidAgain paid(Fate::lose_request);
    auto& world = paid.world;
    world.cloud.before = [fate](auto& call, auto&) { return call == "share" ? fate : Fate::answer; };
    world.accept(now(paid.event, 2, domain::Payment::deliver));
    world.settle();
    ASSERT_GT(world.cloud.count("share"), 1);
    ASSERT_EQ(paid.item().status, ItemStatus::owed);
    world.cloud.before = nullptr;
    world.accept(now(paid.event, 3, domain::Payment::refunded));
    world.settle(std::chrono::hours{25});
    EXPECT_TRUE(world.cloud.shares.empty()) << "who was refunded keeps nothing";
    EXPECT_EQ(paid.item().status, ItemStatus::revoked);
    expect_books_balance(world);
  }
}

TEST_F(ItemsRules, WhatPerhapsWasTakenBackIsTakenBackWhereTheOrderStopsWhileItIsSharedAgain) {
  PaidAgain paid(Fate::lose_request);
  auto& world = paid.world;
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold : Fate::answer; };
  world.accept(now(paid.event, 2, domain::Payment::deliver));
  world.settle();
  ASSERT_EQ(world.cloud.held(), 1U);
  world.accept(now(paid.event, 3, domain::Payment::refunded));
  world.cloud.before = nullptr;
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::none;  // so the share is refused
  world.cloud.release();
  world.settle(std::chrono::hours{1});
  EXPECT_TRUE(world.cloud.shares.empty()) << "who was refunded keeps nothing";
  EXPECT_EQ(world.status(paid.id), "completed");
  EXPECT_EQ(paid.item().status, ItemStatus::revoked);
  expect_books_balance(world);
}

TEST_F(ItemsRules, AnInheritedShareIsChargedOnceThoughItPerhapsWasTakenBack) {
  auto_revoke();
  world.deliver(order("1", "Ann"));
  const auto heir = world.deliver(order("2", "Ann"));
  refund("1");
  world.settle();
  ASSERT_EQ(world.items(heir)[0].status, ItemStatus::shared);
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::lose_request : Fate::answer; };
  refund("2");
  world.settle(std::chrono::hours{75});
  ASSERT_EQ(world.items(heir)[0].status, ItemStatus::revoke_failed);
  world.cloud.before = nullptr;
  world.accept(now(order("2", "Ann"), 2, domain::Payment::deliver));
  world.settle();
  EXPECT_EQ(world.status(heir), "completed");
  EXPECT_EQ(world.items(heir)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.balance().spent, 1) << "the first order has paid for it";
  expect_books_balance(world);
  world.accept(now(order("2", "Ann"), 3, domain::Payment::refunded));
  world.settle();
  EXPECT_FALSE(has("u-ann", "file-1")) << "it is the service's to take back";
}

TEST_F(ItemsRules, WhatPerhapsWasTakenBackIsOfTheFormerCustomerStill) {
  PaidAgain paid(Fate::lose_request);
  auto& world = paid.world;
  world.hold_queue();
  world.accept(now(paid.event, 2, domain::Payment::deliver));
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), paid.id, "bob")));
  const auto former = paid.item();
  EXPECT_TRUE(former.former);
  EXPECT_EQ(former.status, ItemStatus::revoke_failed) << "it can be taken back by hand";
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), paid.id,
                                               {.items = {former.id}, .username = {}})));
}

TEST_F(ItemsRules, WhatThePlatformRefusedToTakeBackIsThereAndNobodyIsAskedAnew) {
  PaidAgain paid(Fate::blocked);
  auto& world = paid.world;
  world.cloud.friendships.clear();
  const auto requests = world.cloud.count("request");
  world.accept(now(paid.event, 2, domain::Payment::deliver));
  world.settle();
  EXPECT_EQ(world.status(paid.id), "completed");
  EXPECT_EQ(paid.item().status, ItemStatus::shared);
  EXPECT_EQ(world.cloud.count("request"), requests);
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  EXPECT_EQ(world.balance().spent, 1);
  expect_books_balance(world);
}

TEST_F(ItemsRules, WhatAPersonCouldNotTakeBackIsGivenAgainByAnApproval) {
  using namespace std::chrono_literals;
  World world{WorkerOptions{.jobs_per_minute = 0, .poll = 30min, .maintenance = 5min}};
  const auto event = later(world, "1", {"sku-1"}, 0);
  const auto id = world.deliver(event);
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::lose_answer : Fate::answer; };
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), id)));
  world.settle(75h);
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoke_failed);
  ASSERT_TRUE(world.cloud.shares.empty());
  world.cloud.before = nullptr;
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_EQ(world.balance().held, 0);
}

}  // namespace
}  // namespace presetbridge::services
