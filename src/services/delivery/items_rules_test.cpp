// Whose the items of a delivery are (spec 3.10, 3.11): where a name leads to another user of the platform
// than before, where one order's share is handed on to another's, and where two names are one user's.
#include "services/delivery/items_rules_testing.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::expect_books_balance;
using testing::ItemsRules;
using testing::later;
using testing::now;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

// ---------------------------------------------------------------- a name that is somebody else's now

TEST_F(ItemsRules, TheNewOwnerOfANameGetsTheFilesThatHePaidFor) {
  world.deliver(order("1", "Ann"));
  hand_over(world.cloud);
  const auto second = world.deliver(order("2", "Ann", {"sku-2"}));
  EXPECT_EQ(world.status(second), "completed") << "the name leads to the one who has it now";
  EXPECT_TRUE(has("u-new", "file-2"));
  const auto third = world.deliver(order("3", "Ann"));
  EXPECT_EQ(world.status(third), "completed");
  EXPECT_TRUE(has("u-new", "file-1"));
  EXPECT_EQ(world.items(third)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.items(third)[0].user_id, "u-new");
  EXPECT_EQ(world.balance().spent, 3);
  expect_books_balance(world);
}

TEST_F(ItemsRules, ANameThatIsNobodysAnyMoreIsLookedUpOnce) {
  world.deliver(order("1", "Ann"));
  world.cloud.gone.insert("u-ann");
  const auto before = world.cloud.count("find_user");
  const auto second = world.deliver(order("2", "Ann", {"sku-2"}));
  EXPECT_EQ(world.status(second), "failed username_not_found") << "the platform names a user who is gone";
  EXPECT_EQ(world.cloud.count("find_user"), before + 1);
  world.cloud.unknown_users = {"Ann"};
  ASSERT_TRUE(retry(second));
  world.settle();
  EXPECT_EQ(world.status(second), "failed username_not_found");
  EXPECT_EQ(world.cloud.count("find_user"), before + 2);
}

TEST_F(ItemsRules, ARefundOfTheFormerOwnerTakesNothingFromTheNewOne) {
  auto_revoke();
  const auto first = world.deliver(order("1", "Ann"));
  hand_over(world.cloud);
  world.deliver(order("2", "Ann", {"sku-2"}));
  const auto third = world.deliver(order("3", "Ann"));
  refund("1");
  world.settle();
  EXPECT_TRUE(has("u-new", "file-1"));
  EXPECT_EQ(world.items(third)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.items(first)[0].status, ItemStatus::revoked);
}

TEST_F(ItemsRules, ARefundOfTheNewOwnerTakesNothingFromTheFormerOne) {
  auto_revoke();
  const auto first = world.deliver(order("1", "Ann"));
  hand_over(world.cloud);
  world.deliver(order("2", "Ann", {"sku-2"}));
  const auto third = world.deliver(order("3", "Ann"));
  world.cloud.gone = {};
  refund("3");
  world.settle();
  EXPECT_FALSE(has("u-new", "file-1"));
  EXPECT_EQ(world.items(third)[0].status, ItemStatus::revoked);
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.items(first)[0].status, ItemStatus::shared);
}

TEST_F(ItemsRules, WhatTheNewOwnerIsOwedIsNotDeliveredByAShareOfTheFormerOnes) {
  auto_revoke();
  world.deliver(order("1", "Ann"));
  hand_over(world.cloud);
  world.deliver(order("2", "Ann", {"sku-2"}));
  world.hold_queue();
  const auto third = *world.accept(order("3", "Ann")).delivery;
  refund("1");
  world.settle();
  EXPECT_EQ(world.status(third), "completed");
  EXPECT_TRUE(has("u-new", "file-1"));
}

TEST_F(ItemsRules, ADeliveryWhoseNameIsSomebodyElsesNowOwesHimAllOfIt) {
  world.cloud.unknown_files = {"file-2"};
  const auto id = world.deliver(order("1", "Ann", {"sku-1", "sku-2"}));
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  ASSERT_TRUE(has("u-ann", "file-1"));
  world.cloud.unknown_files = {};
  hand_over(world.cloud);
  ASSERT_TRUE(retry(id));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-new", "file-1"));
  EXPECT_TRUE(has("u-new", "file-2"));
  EXPECT_EQ(world.balance().spent, 3);
  for (const auto& item : world.items(id)) {
    EXPECT_EQ(item.status, ItemStatus::shared);
    EXPECT_EQ(item.user_id, item.former ? "u-ann" : "u-new");
  }
  EXPECT_EQ(world.items(id).size(), 3u);
  expect_books_balance(world);
}

TEST_F(ItemsRules, WhatTheFormerOwnerHasMakesNothingFreeForTheNewOne) {
  World poor(World::unlimited(), 2);
  poor.deliver(poor.order("1", "Ann", {"sku-1"}));
  hand_over(poor.cloud);
  poor.cloud.auto_accept = false;
  const auto second = poor.deliver(poor.order("2", "Ann", {"sku-2"}));
  ASSERT_EQ(poor.status(second), "waiting_for_friendship");
  poor.write(
      [&](storage::Tx& tx) { tx.exec({"UPDATE accounts SET granted = spent WHERE id = $1"}, poor.account); });
  const auto third = poor.deliver(poor.order("3", "Ann", {"sku-1"}));
  EXPECT_EQ(poor.status(third), "failed insufficient_credits");
}

TEST_F(ItemsRules, AShareIsTakenBackFromItsUserWhoeverHasTheNameNow) {
  const auto first = world.deliver(order("1", "Ann"));
  world.cloud.gone.insert("u-ann");
  world.cloud.unknown_users = {"Ann"};
  const auto second = world.deliver(order("2", "Ann", {"sku-2"}));
  ASSERT_EQ(world.status(second), "failed username_not_found");
  world.cloud.gone = {};
  ASSERT_TRUE(revoke(first));
  world.settle();
  EXPECT_EQ(world.items(first)[0].status, ItemStatus::revoked);
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(ItemsRules, AnUnknownShareIsLookedUpForItsUserWhoeverHasTheNameNow) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto first = world.deliver(order("1", "Ann"));
  ASSERT_EQ(world.items(first)[0].status, ItemStatus::sharing);
  hand_over(world.cloud);
  const auto second = *world.accept(order("2", "Ann", {"sku-2"})).delivery;
  world.settle(Millis{2'000});
  world.cloud.gone = {};
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(second), "completed");
  EXPECT_EQ(world.status(first), "completed");
  const auto items = world.items(first);
  const auto former = std::ranges::find(items, true, &storage::ItemRow::former);
  ASSERT_NE(former, items.end());
  EXPECT_EQ(former->status, ItemStatus::shared);
  EXPECT_EQ(former->user_id, "u-ann");
  EXPECT_EQ(world.balance().spent, 3) << "both users have the file";
  expect_books_balance(world);
}

// Rows from before migration 5 have no user.
TEST_F(ItemsRules, AnItemOfBeforeIsTheFormerOwnersToo) {
  const auto first = world.deliver(order("1", "Ann"));
  world.write([](storage::Tx& tx) { tx.exec({"UPDATE delivery_items SET user_id = '', username = ''"}); });
  hand_over(world.cloud);
  world.deliver(order("2", "Ann", {"sku-2"}));
  EXPECT_EQ(world.items(first)[0].user_id, "u-ann");
  world.deliver(order("3", "Ann"));
  EXPECT_TRUE(has("u-new", "file-1"));
}

// ---------------------------------------------------------------- a share that is handed on

TEST_F(ItemsRules, ADeliveryThatWaitsIsCompletedByTheShareThatItInherits) {
  auto_revoke();
  world.deliver(order("1", "Ann"));
  end_friendship("u-ann");
  const auto heir = world.deliver(order("2", "Ann"));
  ASSERT_EQ(world.status(heir), "waiting_for_friendship");
  const auto sequence = world.delivery(heir).sequence;
  refund("1");
  EXPECT_EQ(world.status(heir), "completed");
  EXPECT_EQ(world.items(heir)[0].status, ItemStatus::shared);
  world.settle(std::chrono::hours{24 * 20});
  EXPECT_EQ(world.status(heir), "completed");
  EXPECT_EQ(world.delivery(heir).sequence, sequence + 1);
  EXPECT_EQ(completed_entries(heir), 1);
  EXPECT_TRUE(has("u-ann", "file-1"));
  expect_books_balance(world);
}

TEST_F(ItemsRules, ADeliveryThatFailedIsCompletedByTheShareThatItInherits) {
  const auto first = world.deliver(order("1", "Ann"));
  end_friendship("u-ann");
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::blocked;
  world.write([](storage::Tx& tx) { tx.exec({"UPDATE customers SET friendship = 'blocked'"}); });
  const auto heir = world.deliver(order("2", "Ann"));
  ASSERT_EQ(world.status(heir), "failed blocked_by_customer");
  const auto sequence = world.delivery(heir).sequence;
  ASSERT_TRUE(revoke(first));
  EXPECT_EQ(world.status(heir), "completed");
  world.settle();
  EXPECT_EQ(world.delivery(heir).sequence, sequence + 1);
  EXPECT_EQ(world.cloud.count("revoke"), 0);
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(ItemsRules, ADeliveryThatInheritsAShareAndOwesMoreGoesOnAsItWas) {
  auto_revoke();
  world.deliver(order("1", "Ann"));
  end_friendship("u-ann");
  const auto heir = world.deliver(order("2", "Ann", {"sku-1", "sku-2"}));
  refund("1");
  world.settle();
  EXPECT_EQ(world.status(heir), "waiting_for_friendship");
  world.cloud.accept("u-ann");
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(heir), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
  EXPECT_EQ(completed_entries(heir), 1);
  expect_books_balance(world);
}

TEST_F(ItemsRules, AnHeirThatHadTheFileForTheSameUserBeforeHasItOnce) {
  auto_revoke();
  world.deliver(order("1", "Ann"));
  world.cloud.unknown_files = {"file-2"};
  const auto heir = world.deliver(order("2", "Ann", {"sku-1", "sku-2"}));
  ASSERT_EQ(world.status(heir), "failed preset_not_found");
  world.cloud.auto_accept = false;
  ASSERT_TRUE(retry(heir, "Bob"));
  world.settle();
  ASSERT_EQ(world.status(heir), "waiting_for_friendship");
  ASSERT_TRUE(revoke(heir, {.items = {}, .username = "Ann"}));
  world.cloud.unknown_files = {};
  world.hold_queue();
  ASSERT_TRUE(retry(heir, "Ann"));
  refund("1");
  world.settle();
  EXPECT_EQ(world.status(heir), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.cloud.count("revoke"), 0);
  const auto items = world.items(heir);
  EXPECT_EQ(items.size(), 2u);
  for (const auto& item : items) {
    EXPECT_FALSE(item.former);
    EXPECT_EQ(item.status, ItemStatus::shared);
    EXPECT_EQ(item.user_id, "u-ann");
  }
  expect_books_balance(world);
}

// ---------------------------------------------------------------- two names of one user

TEST_F(ItemsRules, ADeliveryThatFailedUnderAnotherNameOfAKnownCustomerGoesOn) {
  world.deliver(order("1", "Ann"));
  bool away = true;
  world.cloud.before = [&](auto& call, auto& subject) {
    return away && call == "find_user" && subject == "ANN" ? Fate::fail : Fate::answer;
  };
  const auto other = world.deliver(order("2", "ANN", {"sku-2"}));
  world.settle(std::chrono::hours{80});
  ASSERT_EQ(world.status(other), "failed cloud_unavailable");
  away = false;
  world.settle(std::chrono::hours{3});
  EXPECT_EQ(world.status(other), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
  expect_books_balance(world);
}

TEST_F(ItemsRules, WhoeverHasTheNameNowGetsNothingOfAnOrderUnderAnotherName) {
  world.deliver(order("1", "Ann"));
  bool away = true;
  world.cloud.before = [&](auto& call, auto& subject) {
    return away && call == "share" && subject == "file-2" ? Fate::fail : Fate::answer;
  };
  const auto other = world.deliver(order("2", "ANN", {"sku-2"}));
  ASSERT_EQ(world.status(other), "queued");
  world.cloud.gone = {"u-ann"};
  world.cloud.other_ids["Ann"] = "u-bob";
  away = false;
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(other), "failed username_not_found");
  EXPECT_FALSE(has("u-bob", "file-2"));
}

// ---------------------------------------------------------------- what was charged

TEST_F(ItemsRules, WhatOneCustomerWasChargedForIsNotAnothersForNothing) {
  auto_revoke();
  const auto id = world.deliver(order("1", "Ann"));
  world.accept(now(order("1", "Ann"), 1, domain::Payment::cancelled));
  world.settle();
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  world.hold_queue();
  world.accept(now(order("1", "Ann"), 2, domain::Payment::deliver));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::owed);
  ASSERT_TRUE(retry(id, "Bob"));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 2) << "one credit for each file shared";
  for (const auto& item : world.items(id)) {
    EXPECT_TRUE(item.spent);
    EXPECT_EQ(item.user_id, item.former ? "u-ann" : "u-bob");
    EXPECT_EQ(item.status, item.former ? ItemStatus::revoked : ItemStatus::shared);
  }
  EXPECT_EQ(world.items(id).size(), 2u);
  expect_books_balance(world);
}

TEST_F(ItemsRules, WhatACustomerWasChargedForIsTheirsForNothingWhenTheNameIsTheirsAgain) {
  const auto id = charged_to_ann_and_owed_to_bob();
  ASSERT_EQ(world.status(id), "failed insufficient_credits");
  world.grant(1);
  world.hold_queue();
  ASSERT_TRUE(retry(id, "Ann"));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_FALSE(has("u-bob", "file-1"));
  EXPECT_EQ(world.items(id).size(), 1u);
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_EQ(world.balance().held, 0);
}

// ---------------------------------------------------------------- a name that is corrected back

TEST_F(ItemsRules, ANameCorrectedBackBeforeItsFileIsTakenBackKeepsTheFile) {
  const auto id = world.deliver(order("1", "Ann"));
  world.cloud.unknown_users = {"Bob"};
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(retry(id, "Bob"));
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  world.settle();
  ASSERT_EQ(world.status(id), "failed username_not_found");
  world.hold_queue();
  ASSERT_TRUE(revoke(id, {.username = "Ann"}));
  ASSERT_TRUE(retry(id, "Ann"));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  ASSERT_EQ(world.items(id).size(), 1U);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.cloud.count("revoke"), 0) << "it had not begun";
  EXPECT_EQ(world.balance().spent, 1);
  expect_books_balance(world);
}

// The platform takes the file back and its answer is lost: the file is shared again, whether the look-up comes
// before the name does or not.
TEST_F(ItemsRules, ANameCorrectedBackWhileItsFileIsTakenBackGetsTheFileAgain) {
  using namespace std::chrono_literals;
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late ? "after the platform was given up" : "meanwhile");
    World world{WorkerOptions{.jobs_per_minute = 0, .poll = 30min, .maintenance = 5min}};
    const auto retry_as = [&](DeliveryId id, std::string name) {
      return world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::move(name)));
    };
    auto event = later(world, "1", {"sku-1"}, 0);
    event.username = event.raw_username = "Ann";
    const auto id = world.deliver(event);
    world.cloud.unknown_users = {"Bob"};
    ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
    ASSERT_TRUE(retry_as(id, "Bob"));
    ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
    world.settle();
    ASSERT_EQ(world.status(id), "failed username_not_found");
    world.cloud.before = [](auto& call, auto&) {
      return call == "revoke" ? Fate::lose_answer : Fate::answer;
    };
    ASSERT_TRUE(
        world.await(world.actions.revoke(world.scheduler, world.merchant(), id, {.username = "Ann"})));
    world.settle(late ? Millis{75h} : Millis{1min});
    ASSERT_TRUE(world.cloud.shares.empty());
    ASSERT_TRUE(retry_as(id, "Ann"));
    world.settle(1min);
    world.cloud.before = nullptr;
    world.settle(75h);
    EXPECT_EQ(world.status(id), "completed");
    EXPECT_EQ(world.cloud.shares.size(), 1U);
    ASSERT_EQ(world.items(id).size(), 1U);
    EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
    EXPECT_EQ(world.balance().spent, 1);
    EXPECT_EQ(world.balance().held, 0);
  }
}

TEST_F(ItemsRules, WhatACustomerWasChargedForNeedsNoCreditWhenTheNameIsTheirsAgain) {
  const auto id = charged_to_ann_and_owed_to_bob();
  ASSERT_EQ(world.status(id), "failed insufficient_credits");
  ASSERT_TRUE(retry(id, "Ann"));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

// Bob's delivery waited as Ann's before: her share of another order is not his.
TEST_F(ItemsRules, ARenamedDeliveryThatFailsBeforeItIsRoutedInheritsNothing) {
  const auto renamed = waiting_beside_a_share();
  take_credits_away();
  ASSERT_TRUE(retry(renamed, "Bob"));
  ASSERT_EQ(world.status(renamed), "failed insufficient_credits");
  refund("1");
  world.settle();
  EXPECT_EQ(world.status(renamed), "failed insufficient_credits");
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(ItemsRules, ARenamedDeliveryThatGoesToReviewInheritsNothing) {
  const auto renamed = waiting_beside_a_share();
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    row.hold_all = true;
    update_integration(tx, row);
  });
  world.accept(now(order("2", "Bob"), 1, domain::Payment::deliver));
  ASSERT_EQ(world.status(renamed), "in_review");
  take_credits_away();
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), renamed)));
  ASSERT_EQ(world.status(renamed), "failed insufficient_credits");
  refund("1");
  world.settle();
  EXPECT_EQ(world.status(renamed), "failed insufficient_credits");
  EXPECT_FALSE(has("u-ann", "file-1"));
}

// ---------------------------------------------------------------- an approval after a stop

TEST_F(ItemsRules, AnApprovalOwesAgainWhatAStopDroppedBesideASharedFile) {
  for (const bool revokes : {false, true}) {
    SCOPED_TRACE(revokes ? "with autoRevoke" : "without");
    World world(World::unlimited(), 1);
    if (revokes) world.auto_revoke();
    const auto event = later(world, "1", {"sku-1", "sku-2"}, 0);
    const auto id = world.deliver(event);
    ASSERT_EQ(world.status(id), "failed insufficient_credits");
    world.accept(now(event, 1, domain::Payment::cancelled));
    world.settle();
    ASSERT_EQ(world.status(id), "completed");
    world.grant(5);
    ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
    ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
    world.settle();
    EXPECT_EQ(world.status(id), "completed");
    EXPECT_EQ(world.cloud.shares.size(), 2U);
    EXPECT_EQ(world.balance().spent, 2);
    EXPECT_EQ(world.balance().held, 0);
  }
}

}  // namespace
}  // namespace presetbridge::services
