// A store or merchant names another customer for a delivery (spec 2.6, 3.10, 3.11).
#include "services/delivery/order_rules_testing.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::expect_books_balance;
using testing::later;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

class NameRules : public testing::OrderRules {};

TEST_F(NameRules, AStoresNewNameCountsWhileItWaitsAndTheOldRequestIsTakenBack) {
  world.cloud.auto_accept = false;
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  world.accept(named("Bob", 1));
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.withdrawals["u-ann"], 1);
  EXPECT_EQ(world.cloud.requests["u-bob"], 1);
  world.cloud.accept("u-bob");
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_FALSE(has("u-ann", "file-1"));
  expect_books_balance(world);
}

TEST_F(NameRules, ACustomerWhoDeclinedBeforeTheRequestWasTakenBackIsNotAskedAgain) {
  world.cloud.auto_accept = false;
  deliver(named("Ann", 0));
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::declined;
  world.accept(named("Bob", 1));
  settle();
  ASSERT_EQ(world.cloud.withdrawals["u-ann"], 1);
  const auto other = world.deliver(later(world, "2", {"sku-1"}, 2));
  settle();
  EXPECT_EQ(world.status(other), "failed friend_request_declined");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
}

TEST_F(NameRules, WhatAPersonTookBackFromTheFormerCustomerIsNothingThatTheNewOneGot) {
  const auto id = deliver(named("Ann", 0));
  ASSERT_TRUE(revoke(id));
  settle();
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  world.cloud.auto_accept = false;
  world.accept(named("Bob", 1, {"sku-1", "sku-2"}));
  settle();
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  ASSERT_EQ(world.delivery(id).username, "Bob");
  world.accept(refund("r1", {{"L2", 1}}));
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "nothing_to_deliver");
  EXPECT_FALSE(has("u-bob", "file-1")) << "only an approval gives it again";
}

// Found by the simulation: it was invalidated as nothing_to_deliver, and the store was notified of that.
TEST_F(NameRules, ACustomerWhoIsNamedAgainHasWhatTheyGotBefore) {
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "completed");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(retry(id, "Bob"));
  unmap("sku-1");
  map("sku-1", "");
  ASSERT_TRUE(retry(id, "Ann"));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  ASSERT_EQ(world.items(id).size(), 1U);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_FALSE(world.items(id)[0].former);
  EXPECT_EQ(world.cloud.shares.size(), 1U);
  EXPECT_EQ(world.balance().spent, 1);
  expect_books_balance(world);
}

// Found by the simulation: the trash invalidated it.
TEST_F(NameRules, ACustomerUnderAnotherNameHasWhatTheyGotBefore) {
  world.cloud.other_ids["ANN"] = "u-ann";
  world.cloud.unknown_files = {"file-2"};
  const auto id = deliver(named("Ann", 0, {"sku-1", "sku-2"}));
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "file-2");
  ASSERT_TRUE(retry(id, "ANN"));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.size(), 1U);
}

// Found by the simulation: it was dropped, as if they had never had it.
TEST_F(NameRules, AFormerCustomersChargedFileStaysRecordedWhereANewShareOfItWasLost) {
  auto_revoke();
  const auto id = deliver(named("Ann", 0));
  world.accept(paid(1, domain::Payment::cancelled));
  settle();
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  auto back = paid(2, domain::Payment::deliver);
  back.username = back.raw_username = "Ann";
  world.accept(back);
  world.settle(std::chrono::seconds{5});
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  world.accept(named("Bob", 3));
  settle();
  for (const auto& item : world.items(id)) {
    EXPECT_EQ(item.status, item.former ? ItemStatus::revoked : ItemStatus::shared);
    EXPECT_EQ(item.username, item.former ? "Ann" : "Bob");
  }
  EXPECT_EQ(world.balance().spent, 2);
  expect_books_balance(world);
}

TEST_F(NameRules, AStoresNewNameCountsWhileItIsQueued) {
  world.hold_queue();
  const auto id = *world.accept(named("Ann", 0)).delivery;
  world.accept(named("Bob", 1));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_EQ(world.cloud.shares.size(), 1u);
}

TEST_F(NameRules, AStoresNewNameCountsWhileTheNameIsLookedUp) {
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "processing");
  world.accept(named("Bob", 1));
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_EQ(world.cloud.shares.size(), 1u);
}

TEST_F(NameRules, AStoresNewNameCountsWhereTheOrderIsStoppedAndPaidAgainMeanwhile) {
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "processing");
  world.accept(named("Bob", 1));
  auto stop = named("Bob", 2);
  stop.payment = domain::Payment::cancelled;
  world.accept(stop);
  world.accept(named("Bob", 3));
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_EQ(world.cloud.shares.size(), 1u);
}

TEST_F(NameRules, AStoresNewNameThatCameWhileAnAliasWasLookedUpOutlivesAStop) {
  deliver(named("Ann", 0));
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  auto second = later(world, "2", {"sku-2"}, 0);
  second.username = second.raw_username = "ANN";
  const auto id = world.deliver(second);
  ASSERT_EQ(world.status(id), "processing");
  const auto bobs = [&](int minute, domain::Payment payment) {
    auto event = later(world, "2", {"sku-2"}, minute);
    event.username = event.raw_username = "Bob";
    event.payment = payment;
    return event;
  };
  world.accept(bobs(1, domain::Payment::deliver));
  world.hold_queue();
  world.cloud.release();
  world.scheduler.run();
  ASSERT_EQ(world.status(id), "queued");
  world.accept(bobs(2, domain::Payment::cancelled));
  world.accept(bobs(3, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-2"));
  EXPECT_FALSE(has("u-ann", "file-2"));
}

TEST_F(NameRules, AMerchantsNewNameOutlivesAStopThatCameBeforeItWasObeyed) {
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "processing");
  ASSERT_TRUE(retry(id, "Bob"));
  auto stop = named("Ann", 1);
  stop.payment = domain::Payment::cancelled;
  world.accept(stop);
  world.cloud.release();
  settle();
  ASSERT_EQ(world.status(id), "invalidated");
  world.accept(named("Ann", 2));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(NameRules, AStoresNewNameDoesNotCountOnceSomethingIsShared) {
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "completed");
  world.accept(named("Bob", 1));
  settle();
  EXPECT_EQ(world.delivery(id).username, "Ann");
  EXPECT_EQ(world.cloud.shares.size(), 1u);
}

TEST_F(NameRules, AStoresNewNameCountsWhileNobodyKnowsWhetherSomethingIsShared) {
  for (const auto fate : {Fate::lose_request, Fate::lose_answer}) {
    for (const bool in_job : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(fate)) + (in_job ? ", in the job" : ", after it"));
      World fresh;
      bool lost = false;
      const auto named = [&](const char* name, int minute) {
        auto event = later(fresh, "1", {"sku-1"}, minute);
        event.username = event.raw_username = name;
        return event;
      };
      fresh.cloud.before = [&](auto& call, auto&) {
        if (call != "share" || std::exchange(lost, true)) return Fate::answer;
        if (in_job) fresh.accept(named("Bob", 1));
        return fate;
      };
      const auto id = fresh.deliver(named("Ann", 0));
      if (!in_job) fresh.accept(named("Bob", 1));
      fresh.settle(std::chrono::hours{2});
      EXPECT_EQ(fresh.status(id), "completed");
      EXPECT_EQ(fresh.delivery(id).username, "Bob");
      EXPECT_TRUE(fresh.cloud.shares.contains({"u-bob", "file-1"}));
      expect_books_balance(fresh);
    }
  }
}

TEST_F(NameRules, AStoppedOrderThatWasTakenBackOwesNothingToAnotherNameUntilItIsPaidAgain) {
  auto_revoke();
  const auto id = deliver(named("Ann", 0));
  world.accept(paid(1, domain::Payment::refunded));
  settle();
  ASSERT_FALSE(has("u-ann", "file-1"));
  const auto entries = world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); });
  EXPECT_TRUE(std::ranges::any_of(entries, [](const auto& entry) {
    return entry.message == "The order was refunded after it was delivered.";
  }));
  auto event = named("Bob", 2);
  event.payment = domain::Payment::refunded;
  world.accept(event);
  settle();
  EXPECT_EQ(world.status(id), "completed");
  for (const auto& item : world.items(id)) EXPECT_NE(item.status, ItemStatus::owed);
  world.accept(named("Bob", 3));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(NameRules, OfStoreAndMerchantTheNewestNameWins) {
  world.cloud.auto_accept = false;
  const auto id = deliver(named("Ann", 0));
  ASSERT_TRUE(retry(id, "Bob"));
  settle();
  world.accept(named("Ann", 1, {"sku-1", "sku-2"}));
  settle();
  EXPECT_EQ(world.delivery(id).username, "Bob") << "the store says what it said before";
  auto older = named("Cleo", 2);
  older.updated_at = world.database.clock.now() - std::chrono::hours{1};
  world.accept(older);
  settle();
  EXPECT_EQ(world.delivery(id).username, "Bob") << "the merchant's is newer";
  auto newer = named("Cleo", 3);
  newer.updated_at = world.database.clock.now() + std::chrono::seconds{1};
  newer.raw_username = "Dora";
  newer.username = "Dora";
  world.accept(newer);
  EXPECT_EQ(world.delivery(id).username, "Dora");
}

TEST_F(NameRules, ACorrectedDeliveryOwesEveryFileToTheNewCustomerAndKeepsWhatTheOldOneGot) {
  world.cloud.unknown_files = {"file-2"};
  const auto id = deliver(named("Ann", 0, {"sku-1", "sku-2"}));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  world.cloud.unknown_files = {};
  ASSERT_TRUE(retry(id, "Bob"));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_TRUE(has("u-bob", "file-2"));
  EXPECT_TRUE(has("u-ann", "file-1")) << "it was given";
  EXPECT_EQ(world.balance().spent, 3);
  int former = 0;
  for (const auto& item : world.items(id)) {
    EXPECT_EQ(item.user_id, item.former ? "u-ann" : "u-bob");
    EXPECT_EQ(item.username, item.former ? "Ann" : "Bob");
    former += item.former ? 1 : 0;
  }
  EXPECT_EQ(former, 1);
  ASSERT_TRUE(revoke(id, {.items = {}, .username = "Ann"}));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST_F(NameRules, WhatIsOwedAgainAfterItWasTakenBackCostsANewCustomerACreditOfTheirOwn) {
  auto_revoke();
  const auto id = deliver(named("Ann", 0));
  world.accept(paid(1, domain::Payment::cancelled));
  settle();
  ASSERT_FALSE(has("u-ann", "file-1"));
  world.hold_queue();
  world.accept(named("Ann", 2));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::owed);
  ASSERT_TRUE(retry(id, "Bob"));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_EQ(world.balance().spent, 2);
  ASSERT_EQ(world.items(id).size(), 2u);
  const auto was = world.items(id)[0];
  EXPECT_TRUE(was.former);
  EXPECT_EQ(was.status, ItemStatus::revoked);
  EXPECT_EQ(was.username, "Ann");
  EXPECT_EQ(was.user_id, "u-ann");
  expect_books_balance(world);
}

TEST_F(NameRules, AFileThatAPersonTookBackIsNotOwedToAStoresNewNameUntilAnApproval) {
  const auto id = deliver(named("Ann", 0));
  ASSERT_TRUE(revoke(id));
  settle();
  ASSERT_FALSE(has("u-ann", "file-1"));
  world.accept(named("Bob", 1));
  settle();
  EXPECT_EQ(world.delivery(id).username, "Bob");
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(has("u-bob", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_EQ(world.balance().spent, 2);
  expect_books_balance(world);
}

TEST_F(NameRules, AFileThatCostTheFormerCustomerNothingStaysRecordedAsTheirs) {
  deliver(later(world, "other", {"sku-1"}, 0));
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::already_shared);
  ASSERT_TRUE(revoke(id));
  settle();
  world.accept(named("Bob", 1));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  const auto items = world.items(id);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_TRUE(items[0].former);
  EXPECT_EQ(items[0].username, "Ann");
  EXPECT_EQ(items[0].status, ItemStatus::revoked);
  EXPECT_EQ(items[1].username, "Bob");
  EXPECT_EQ(items[1].status, ItemStatus::shared);
}

TEST_F(NameRules, AFileThatAPersonTookBackIsOwedToTheNameThatAPersonGives) {
  const auto id = deliver(named("Ann", 0));
  ASSERT_TRUE(revoke(id));
  settle();
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(retry(id, "Bob"));
  ASSERT_TRUE(approve(id));
  const auto items = world.items(id);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_TRUE(items[0].former);
  EXPECT_EQ(items[0].status, ItemStatus::revoked);
  settle();
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_FALSE(has("u-ann", "file-1"));
  expect_books_balance(world);
}

TEST_F(NameRules, AWaitingDeliveryThatIsRenamedAndStoppedIsNotTheFormerCustomersAnyMore) {
  world.cloud.auto_accept = false;
  const auto reviewed = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(reviewed), "waiting_for_friendship");
  auto unpaid = named("Bob", 1);
  unpaid.payment = domain::Payment::awaiting_payment;
  world.accept(unpaid);
  ASSERT_EQ(world.status(reviewed), "in_review");
  EXPECT_FALSE(world.delivery(reviewed).customer);

  auto second = later(world, "2", {"sku-1"}, 2);
  second.username = second.raw_username = "Cleo";
  const auto stopped = deliver(second);
  ASSERT_EQ(world.status(stopped), "waiting_for_friendship");
  auto cancelled = later(world, "2", {"sku-1"}, 3);
  cancelled.username = cancelled.raw_username = "Bob";
  cancelled.payment = domain::Payment::cancelled;
  world.accept(cancelled);
  ASSERT_EQ(world.status(stopped), "invalidated");
  EXPECT_FALSE(world.delivery(stopped).customer);
}

TEST_F(NameRules, ANameThatCameWhileTheStoreWasInactiveIsLookedUpWithTheNextEvent) {
  world.cloud.unknown_users = {"Bob"};
  const auto id = deliver(named("Bob", 0));
  ASSERT_EQ(world.status(id), "failed username_not_found");
  set_store([](auto& row) { row.active = false; });
  world.accept(named("Ann", 1));
  settle();
  ASSERT_EQ(world.status(id), "failed username_not_found");
  set_store([](auto& row) { row.active = true; });
  world.accept(named("Ann", 2));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(NameRules, AnotherNameOfTheSameUserGetsNothingTwice) {
  world.cloud.unknown_files = {"file-2"};
  const auto id = deliver(named("Ann", 0, {"sku-1", "sku-2"}));
  settle();
  world.cloud.unknown_files = {};
  ASSERT_TRUE(retry(id, "ANN"));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.size(), 2u);
  EXPECT_EQ(world.items(id).size(), 2u);
  for (const auto& item : world.items(id)) EXPECT_FALSE(item.former);
  expect_books_balance(world);
}

TEST_F(NameRules, TheFormerCustomersShareThatIsStillUnknownIsSettledForThem) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  ASSERT_TRUE(retry(id, "Bob"));
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_TRUE(has("u-ann", "file-1"));
  expect_books_balance(world);
}

TEST_F(NameRules, ACustomerWhoIsNamedAgainIsSharedNothingTwiceWhileTheirShareIsUnknown) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  world.hold_queue();
  ASSERT_TRUE(retry(id, "Bob"));
  ASSERT_EQ(world.items(id).size(), 2U);
  ASSERT_TRUE(retry(id, "Ann"));
  ASSERT_EQ(world.items(id).size(), 1U);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  EXPECT_FALSE(world.items(id)[0].former);
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.size(), 1U);
  EXPECT_EQ(world.cloud.count("share"), 1);
  EXPECT_EQ(world.balance().spent, 1);
  expect_books_balance(world);
}

}  // namespace
}  // namespace presetbridge::services
