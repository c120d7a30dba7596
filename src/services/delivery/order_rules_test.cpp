// The effects of a store's later events, and of a merchant's actions, on a delivery
// (spec 2.6, 2.11, 3.1, 3.10, 3.11), as the merchant sees it.
#include <gtest/gtest.h>

#include "services/testing.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::OrderEvent;
using domain::ReviewReason;
using testing::expect_books_balance;
using testing::later;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

class OrderRules : public ::testing::Test {
 protected:
  template <class Change>
  void set_store(Change change) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      change(row);
      update_integration(tx, row);
    });
  }
  void auto_revoke() {
    set_store([](auto& row) { row.auto_revoke = true; });
  }
  void hold_all() {
    set_store([](auto& row) { row.hold_all = true; });
  }
  // From now on these, beside those that there are.
  void map(const std::string& sku, const std::string& file) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      auto mappings = find_mappings(tx, world.integration);
      const bool ignore = file.empty();
      mappings.push_back({{world.ids.make<MappingId>(), domain::MatchType::sku, sku,
                           ignore ? domain::MappingAction::ignore : domain::MappingAction::deliver, file,
                           ignore ? "" : "preset", ignore ? "" : "File " + file},
                          sku,
                          false});
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
    });
  }
  void unmap(const std::string& sku) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      auto mappings = find_mappings(tx, world.integration);
      std::erase_if(mappings, [&](const auto& m) { return m.mapping.value == sku; });
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
    });
  }
  void resume_mappings() {
    world.write([&](storage::Tx& tx) {
      add_account_task(tx, world.account, storage::AccountTaskKind::resume_mappings);
    });
    world.worker->wake();
    settle();
  }
  OrderEvent named(const std::string& name, int minute, std::vector<std::string> skus = {"sku-1"}) {
    auto event = later(world, "1", std::move(skus), minute);
    event.username = event.raw_username = name;
    return event;
  }
  OrderEvent paid(int minute, domain::Payment payment, std::vector<std::string> skus = {"sku-1"}) {
    auto event = later(world, "1", std::move(skus), minute);
    event.payment = payment;
    return event;
  }
  static OrderEvent refund(const std::string& id, std::vector<domain::RefundLine> lines) {
    OrderEvent event{
        .kind = OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
    event.refunds = {{id, std::move(lines)}};
    return event;
  }
  Expected<DeliveryView> retry(DeliveryId id, std::optional<std::string> name = std::nullopt) {
    return world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::move(name)));
  }
  Expected<DeliveryView> approve(DeliveryId id) {
    return world.await(world.actions.approve(world.scheduler, world.merchant(), id));
  }
  Expected<DeliveryView> revoke(DeliveryId id, RevokeQuery which = {}) {
    return world.await(world.actions.revoke(world.scheduler, world.merchant(), id, std::move(which)));
  }
  DeliveryId deliver(OrderEvent event) { return world.deliver(std::move(event)); }
  void settle(Millis time = std::chrono::minutes{2}) { world.settle(time); }
  bool has(const std::string& user, const std::string& file) const {
    return world.cloud.shares.contains({user, file});
  }
  std::optional<ReviewReason> reason(DeliveryId id) { return world.delivery(id).review_reasons.gravest(); }

  World world;
};

// ---------------------------------------------------------------- mappings

TEST_F(OrderRules, AMappingThatIsMadeLaterSendsNothingMoreOfAnOldOrder) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  map("sku-1", "extra");
  auto edited = later(world, "1", {"sku-1"}, 1);
  edited.lines[0].quantity = 3;
  EXPECT_FALSE(world.accept(edited).duplicate) << "a line changed";
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, AnOrderThatNothingWasMappedOfStaysSoWhateverTheStoreTellsOfItLater) {
  auto event = later(world, "1", {"later"}, 0);
  EXPECT_FALSE(world.accept(event).delivery);
  map("later", "file-1");
  event.updated_at = *event.updated_at + std::chrono::minutes{1};
  event.email = "other@example.com";
  const auto again = world.accept(event);
  EXPECT_FALSE(again.delivery);
  EXPECT_EQ(again.reason, "no_mapped_items");
  EXPECT_TRUE(again.duplicate);
}

TEST_F(OrderRules, ALineThatIsNewOrAnotherProductIsMapped) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  settle();
  EXPECT_TRUE(has("u-ann", "file-2"));
  auto swapped = later(world, "1", {"sku-1", "sku-3"}, 2);
  world.accept(swapped);
  settle();
  EXPECT_TRUE(has("u-ann", "file-3"));
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST_F(OrderRules, AnOrderIsMappedWhenItFirstBecomesDeliverable) {
  EXPECT_EQ(world.accept(paid(0, domain::Payment::awaiting_payment, {"new"})).reason, "awaiting_payment");
  map("new", "file-1");
  EXPECT_TRUE(world.accept(paid(1, domain::Payment::deliver, {"new"})).delivery);
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, AFileThatTwoLinesOweStaysOwedWhenOneOfThemIsRefunded) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  auto edited = later(world, "1", {"sku-1", "sku-1"}, 1);
  world.accept(edited);
  world.accept(refund("r1", {{"L1", 1}}));
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::owed);
  world.cloud.accept("u-ann");
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, ASavedMappingReplacesTheMissingFileAlone) {
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "found");
  map("sku-1", "one more");
  map("sku-2", "extra");
  resume_mappings();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "found"));
  EXPECT_FALSE(has("u-ann", "extra"));
  EXPECT_FALSE(has("u-ann", "one more"));
  EXPECT_EQ(world.balance().spent, 2);
}

TEST_F(OrderRules, AMappingThatLostTheMissingFileTakesNothingAwayUntilARetry) {
  map("sku-1", "found");
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  ASSERT_TRUE(has("u-ann", "found"));
  unmap("sku-1");
  map("sku-1", "found");
  resume_mappings();
  EXPECT_EQ(world.status(id), "failed preset_not_found") << "the file is paid for";
  ASSERT_TRUE(retry(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, AMissingFileIsReplacedByOneThatAnotherLineGave) {
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "file-2");
  resume_mappings();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, ARetryMapsTheWholeOrderAgain) {
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  settle();
  map("sku-2", "extra");
  unmap("sku-1");
  map("sku-1", "found");
  ASSERT_TRUE(retry(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "extra"));
  EXPECT_TRUE(has("u-ann", "found"));
}

TEST_F(OrderRules, ARetryAfterTheMappingBecameIgnoreEndsAsNothingToDeliver) {
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "");
  ASSERT_TRUE(retry(id));
  settle();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "nothing_to_deliver");
  EXPECT_EQ(world.delivery(id).invalidated_by, domain::InvalidatedBy::order);
}

TEST_F(OrderRules, RefundsOfAllThatIsOwedEndAsRefunded) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "order_refunded");
}

// ---------------------------------------------------------------- answers

TEST_F(OrderRules, ADuplicateIsAnEventThatBringsNoNews) {
  EXPECT_FALSE(world.accept(paid(0, domain::Payment::awaiting_payment)).duplicate);
  const auto made = world.accept(paid(1, domain::Payment::deliver));
  EXPECT_FALSE(made.duplicate);
  EXPECT_TRUE(made.made_delivery);
  const auto again = world.accept(paid(1, domain::Payment::deliver));
  EXPECT_TRUE(again.duplicate);
  EXPECT_FALSE(again.made_delivery);
  OrderEvent other{.kind = OrderEvent::Kind::ignored_topic, .provider = domain::Provider::provider_a};
  EXPECT_FALSE(world.accept(other).duplicate);
}

TEST_F(OrderRules, TheKeptBodyIsTheNewestOfTheOrderItself) {
  const auto with_body = [&](OrderEvent event, char byte) {
    event.received_at = world.database.clock.now();
    auto snapshot = world.await(world.directory.find(world.scheduler, world.integration)).value();
    world.await(world.intake.accept(world.scheduler, {snapshot, event, {std::byte(byte)}, {}})).value();
  };
  const auto kept = [&] {
    return world.write([](storage::Tx& tx) {
      return tx.one({"SELECT body FROM order_payloads"}, [](const storage::Row& r) { return r.bytes(0)[0]; });
    });
  };
  with_body(later(world, "1", {"sku-1"}, 5), 'a');
  with_body(refund("r1", {{"L1", 1}}), 'b');
  EXPECT_EQ(kept(), std::byte('a')) << "a refund is not the order";
  auto older = later(world, "1", {"sku-1"}, 1);
  older.refunds = {{"r2", {}}};
  with_body(older, 'c');
  EXPECT_EQ(kept(), std::byte('a')) << "an older one is not the newest";
  with_body(later(world, "1", {"sku-2"}, 9), 'd');
  EXPECT_EQ(kept(), std::byte('d'));
}

// ---------------------------------------------------------------- names

TEST_F(OrderRules, AStoresNewNameCountsWhileItWaitsAndTheOldRequestIsTakenBack) {
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

TEST_F(OrderRules, ACustomerWhoDeclinedBeforeTheRequestWasTakenBackIsNotAskedAgain) {
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

TEST_F(OrderRules, AStoresNewNameCountsWhileItIsQueued) {
  world.hold_queue();
  const auto id = *world.accept(named("Ann", 0)).delivery;
  world.accept(named("Bob", 1));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
  EXPECT_EQ(world.cloud.shares.size(), 1u);
}

TEST_F(OrderRules, AStoresNewNameCountsWhileTheNameIsLookedUp) {
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

TEST_F(OrderRules, AStoresNewNameCountsWhereTheOrderIsStoppedAndPaidAgainMeanwhile) {
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

TEST_F(OrderRules, AStoresNewNameThatCameWhileAnAliasWasLookedUpOutlivesAStop) {
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

TEST_F(OrderRules, AMerchantsNewNameOutlivesAStopThatCameBeforeItWasObeyed) {
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

TEST_F(OrderRules, AStoresNewNameDoesNotCountOnceSomethingIsShared) {
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "completed");
  world.accept(named("Bob", 1));
  settle();
  EXPECT_EQ(world.delivery(id).username, "Ann");
  EXPECT_EQ(world.cloud.shares.size(), 1u);
}

TEST_F(OrderRules, AStoresNewNameCountsWhileNobodyKnowsWhetherSomethingIsShared) {
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

TEST_F(OrderRules, AStoppedOrderThatWasTakenBackOwesNothingToAnotherNameUntilItIsPaidAgain) {
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

TEST_F(OrderRules, OfStoreAndMerchantTheNewestNameWins) {
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

TEST_F(OrderRules, ACorrectedDeliveryOwesEveryFileToTheNewCustomerAndKeepsWhatTheOldOneGot) {
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

TEST_F(OrderRules, WhatIsOwedAgainAfterItWasTakenBackCostsANewCustomerACreditOfTheirOwn) {
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

TEST_F(OrderRules, AnotherNameOfTheSameUserGetsNothingTwice) {
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

TEST_F(OrderRules, TheFormerCustomersShareThatIsStillUnknownIsSettledForThem) {
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

// ---------------------------------------------------------------- review

TEST_F(OrderRules, AReopenedDeliveryStaysInReviewWhateverTheStoreTells) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(reason(id), ReviewReason::reopened);
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  world.accept(refund("r1", {{"L2", 1}}));
  settle();
  EXPECT_EQ(world.status(id), "in_review");
  world.accept(paid(2, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  settle();
  EXPECT_EQ(world.status(id), "in_review") << "something was shared";
  EXPECT_TRUE(world.delivery(id).cancelled);
  world.accept(paid(3, domain::Payment::deliver, {"sku-1", "sku-2"}));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(OrderRules, AReopenedDeliveryThatOwesNothingStaysInReviewToo) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  world.accept(refund("r2", {}));
  ASSERT_EQ(world.status(id), "in_review");
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  EXPECT_EQ(world.status(id), "in_review");
  world.accept(refund("r3", {{"L2", 1}}));
  EXPECT_EQ(world.status(id), "invalidated") << "the refund took what was to be approved";
}

TEST_F(OrderRules, AReopenedDeliveryOfAStoppedOrderStaysInReviewUntilItIsStoppedAnew) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(paid(1, domain::Payment::refunded));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  auto edited = paid(2, domain::Payment::refunded);
  edited.lines[0].quantity = 2;
  world.accept(edited);
  EXPECT_EQ(world.status(id), "in_review");
  world.accept(paid(3, domain::Payment::cancelled));
  EXPECT_EQ(world.status(id), "invalidated");
}

TEST_F(OrderRules, WhatWasApprovedAfterAStopStaysWhateverElseTheStoreTells) {
  auto_revoke();
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(paid(1, domain::Payment::refunded));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  auto event = paid(2, domain::Payment::refunded);
  event.email = "another@example.com";
  world.accept(event);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  world.cloud.accept("u-ann");
  settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  event.updated_at = *event.updated_at + std::chrono::minutes{5};
  event.email = "third@example.com";
  world.accept(event);
  settle(std::chrono::hours{1});
  EXPECT_TRUE(has("u-ann", "file-1"));
  world.accept(paid(9, domain::Payment::cancelled));
  settle(std::chrono::hours{1});
  EXPECT_FALSE(has("u-ann", "file-1")) << "stopped anew";
}

TEST_F(OrderRules, WhatIsApprovedOfAStoppedOrderIsTheProductThatItHasNow) {
  world.cloud.auto_accept = false;
  const auto id = deliver(named("Ann", 0));
  world.accept(paid(1, domain::Payment::cancelled, {"sku-2"}));
  settle();
  ASSERT_EQ(world.status(id), "invalidated");
  world.cloud.accept("u-ann");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, AReopenedDeliveryThatOwesNothingStaysInReviewWhenAFormerCustomersShareIsFound) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  world.accept(paid(1, domain::Payment::awaiting_payment));
  world.accept(refund("r1", {{"L1", 1}}));
  ASSERT_TRUE(retry(id, "Bob"));
  ASSERT_TRUE(approve(id));
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  settle(std::chrono::hours{1});
  const auto items = world.items(id);
  const auto former = std::ranges::find(items, true, &storage::ItemRow::former);
  ASSERT_NE(former, items.end());
  EXPECT_EQ(former->status, ItemStatus::shared);
  EXPECT_EQ(world.status(id), "in_review");
  expect_books_balance(world);
}

TEST_F(OrderRules, ANameThatComesToWhatWasApprovedAfterAStopCounts) {
  world.cloud.auto_accept = false;
  const auto stopped = [&](const std::string& name, int minute) {
    auto event = named(name, minute);
    event.payment = domain::Payment::cancelled;
    return event;
  };
  const auto id = world.deliver(named("", 0));
  world.accept(stopped("", 1));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  ASSERT_EQ(world.status(id), "failed username_missing");
  world.accept(stopped("Ann", 2));
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship") << "the username arrived";

  world.accept(stopped("Bob", 3));
  world.cloud.accept("u-ann");
  settle(std::chrono::hours{1});
  EXPECT_FALSE(has("u-ann", "file-1"));
  world.cloud.accept("u-bob");
  settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-bob", "file-1"));
}

TEST_F(OrderRules, ASettlementDoesNotEndAReview) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(paid(1, domain::Payment::awaiting_payment));
  ASSERT_EQ(world.status(id), "in_review");
  settle(std::chrono::hours{1});
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(reason(id), ReviewReason::payment_withdrawn);
  ASSERT_TRUE(approve(id));
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(OrderRules, APaymentThatReturnsEndsTheReviewThatItsLossBegan) {
  world.cloud.auto_accept = false;
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.accept(paid(1, domain::Payment::awaiting_payment));
  ASSERT_EQ(world.status(id), "in_review");
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1) << "the request that stands is not repeated";
}

TEST_F(OrderRules, OfSeveralReasonsTheGravestShowsAndEachEndsByItself) {
  world.hold_queue();
  const auto id = *world.accept(paid(0, domain::Payment::deliver)).delivery;
  world.accept(paid(1, domain::Payment::awaiting_payment));
  OrderEvent risk{.kind = OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  EXPECT_EQ(reason(id), ReviewReason::high_risk);
  world.accept(paid(2, domain::Payment::deliver));
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_FALSE(world.delivery(id).review_reasons.has(ReviewReason::payment_withdrawn));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.delivery(id).review_reasons.none());
  EXPECT_EQ(world.delivery(id).reason, "") << "a reason ends with the state that it explains";
}

TEST_F(OrderRules, AnOrderThatIsTooLargeCannotBeApprovedWhileThereIsNothingToServe) {
  auto event = later(world, "1", {}, 0);
  event.too_large = true;
  const auto id = deliver(event);
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(reason(id), ReviewReason::too_large);
  const auto refused = approve(id);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "INVALID_TRANSITION");
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  world.accept(later(world, "1", {"sku-1"}, 1));
  EXPECT_EQ(world.status(id), "in_review order_too_large") << "a merchant approves it";
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, AnOrderThatWasTooLargeAndStoppedIsDeliveredWhenItIsPaidAgainAndCanBeRead) {
  auto event = later(world, "1", {}, 0);
  event.too_large = true;
  const auto id = deliver(event);
  world.accept(paid(1, domain::Payment::cancelled));
  ASSERT_EQ(world.status(id), "invalidated");
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, TooManyRefundLinesBringUnsharedWorkToReview) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  auto unread = refund("r1", {});
  unread.refunds.clear();
  unread.too_many_refund_lines = true;
  world.accept(unread);
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_TRUE(world.delivery(id).refunded);
  ASSERT_TRUE(approve(id));
  world.accept(later(world, "1", {"sku-1"}, 1));
  EXPECT_EQ(world.status(id), "waiting_for_friendship") << "what was approved is not asked again";
}

TEST_F(OrderRules, AStoreThatHoldsAllHoldsAtEveryQueueing) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  hold_all();
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  settle();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(reason(id), ReviewReason::held);
  EXPECT_FALSE(has("u-ann", "file-2"));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_TRUE(has("u-ann", "file-2"));
}

TEST_F(OrderRules, AStoreThatHoldsAllHoldsAnOrderThatIsPaidAgain) {
  hold_all();
  world.cloud.auto_accept = false;
  const auto id = *world.accept(paid(0, domain::Payment::deliver)).delivery;
  ASSERT_EQ(world.status(id), "in_review");
  ASSERT_TRUE(approve(id));
  settle();
  world.accept(paid(1, domain::Payment::cancelled));
  ASSERT_EQ(world.status(id), "invalidated");
  world.accept(paid(2, domain::Payment::deliver));
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(reason(id), ReviewReason::held);
}

TEST_F(OrderRules, AStoreThatHoldsAllHoldsWhatANameWouldResume) {
  hold_all();
  auto bare = named("", 0);
  bare.raw_username.clear();
  const auto id = *world.accept(bare).delivery;
  ASSERT_TRUE(approve(id));
  ASSERT_EQ(world.status(id), "failed username_missing");
  world.accept(named("Ann", 1));
  EXPECT_EQ(world.status(id), "in_review");
}

TEST_F(OrderRules, AStopThatAPaymentLiftsIsForgottenThoughTheOrderIsOfAnApprovedRisk) {
  world.hold_queue();
  const auto id = *world.accept(later(world, "1", {"sku-1", "sku-2"}, 0)).delivery;
  OrderEvent risk{.kind = OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  bool lost = false;
  world.cloud.before = [&](auto& call, auto& subject) {
    return call == "share" && subject == "file-2" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  ASSERT_TRUE(approve(id));
  settle(Millis{5'000});
  ASSERT_EQ(world.status(id), "queued");
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  world.accept(paid(2, domain::Payment::deliver, {"sku-1", "sku-2"}));
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
}

TEST_F(OrderRules, AStopThatTheStoreLiftsWithoutAPaymentIsForgottenInReview) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto& subject) {
    return call == "share" && subject == "file-2" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  ASSERT_EQ(world.status(id), "queued");
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  ASSERT_EQ(world.delivery(id).pending.kind, domain::PendingActionKind::stop);
  world.accept(paid(2, domain::Payment::awaiting_payment, {"sku-1", "sku-2"}));
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(world.delivery(id).pending.kind, domain::PendingActionKind::none);
  world.accept(paid(3, domain::Payment::deliver, {"sku-1", "sku-2"}));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
}

// ---------------------------------------------------------------- ends and what they take back

TEST_F(OrderRules, AStoppedOrderThatIsPaidAgainGivesTheFileBackForNothing) {
  auto_revoke();
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.accept(paid(1, domain::Payment::cancelled));
  settle();
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  ASSERT_EQ(world.status(id), "completed");
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1) << "an item once charged is never held for again";
  EXPECT_EQ(world.balance().held, 0);
}

TEST_F(OrderRules, AStopThatBecomesAWaitForThePaymentGivesNothingAgain) {
  auto_revoke();
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.accept(paid(1, domain::Payment::cancelled));
  settle();
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  world.accept(paid(2, domain::Payment::awaiting_payment));
  settle();
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  world.accept(paid(3, domain::Payment::deliver));
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, AStopThatBecomesAWaitForThePaymentStillTakesBackWhatItBegan) {
  auto_revoke();
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.hold_queue();
  world.accept(paid(1, domain::Payment::cancelled));
  world.accept(paid(2, domain::Payment::awaiting_payment));
  settle();
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, WithoutACreditLeftAnItemThatWasChargedIsSharedAgain) {
  auto_revoke();
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.accept(paid(1, domain::Payment::cancelled));
  settle();
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE accounts SET granted = spent WHERE id = $1"}, world.account);
  });
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, ARevocationNotYetBegunIsDroppedAndOneBegunIsSettledFirst) {
  auto_revoke();
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.hold_queue();
  world.accept(paid(1, domain::Payment::cancelled));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoking);
  world.accept(paid(2, domain::Payment::deliver));
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  settle();
  EXPECT_EQ(world.cloud.count("revoke"), 0);

  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "revoke" ? once(held, Fate::hold) : Fate::answer;
  };
  world.accept(paid(3, domain::Payment::cancelled));
  settle(Millis{10'000});
  ASSERT_EQ(world.cloud.held(), 1u);
  EXPECT_TRUE(world.items(id)[0].revocation_begun);
  world.accept(paid(4, domain::Payment::deliver));
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoking);
  world.cloud.release();
  settle();
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, WhatAPersonTookBackOnlyAnApprovalGivesAgain) {
  auto_revoke();
  const auto id = deliver(paid(0, domain::Payment::deliver));
  ASSERT_TRUE(revoke(id));
  settle();
  world.accept(paid(1, domain::Payment::cancelled));
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1"));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, WhatAPersonRevokesWhileTheOrdersEndIsCarriedOutOnlyAnApprovalGivesAgain) {
  auto_revoke();
  const auto id = deliver(paid(0, domain::Payment::deliver));
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::fail : Fate::answer; };
  world.accept(paid(1, domain::Payment::cancelled));
  settle();
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::revoking);
  ASSERT_TRUE(revoke(id));
  EXPECT_FALSE(revoke(id)) << "nothing more of it is shared";
  world.accept(paid(2, domain::Payment::deliver));
  world.cloud.before = nullptr;
  settle(std::chrono::hours{2});
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, ARefundOfALineTakesItsFileBackAndNoOther) {
  auto_revoke();
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_TRUE(has("u-ann", "file-2"));
  EXPECT_EQ(world.status(id), "completed");
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 1));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1")) << "it is not paid";
}

TEST_F(OrderRules, WithoutAutoRevokeARefundOfALineTakesNothingBack) {
  deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(OrderRules, TheTrashTakesNothingBackAndRestoringGoesOn) {
  auto_revoke();
  world.cloud.auto_accept = false;
  const auto waiting = deliver(later(world, "1", {"sku-1"}, 0));
  auto trash = paid(1, domain::Payment::cancelled);
  trash.provider = domain::Provider::provider_b;
  trash.trashed = true;
  world.accept(trash);
  EXPECT_EQ(world.status(waiting), "invalidated");
  auto restored = later(world, "1", {"sku-1"}, 2);
  restored.provider = domain::Provider::provider_b;
  restored.restored = true;
  world.accept(restored);
  world.cloud.accept("u-ann");
  settle();
  EXPECT_EQ(world.status(waiting), "completed");
  OrderEvent gone{.kind = OrderEvent::Kind::stop, .provider = domain::Provider::provider_b, .order_id = "1"};
  gone.payment = domain::Payment::cancelled;
  gone.trashed = true;
  world.accept(gone);
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_TRUE(world.delivery(waiting).cancelled);
}

TEST_F(OrderRules, ACancellationAfterTheTrashTakesBackWhatWasApprovedBetween) {
  auto_revoke();
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  auto trash = paid(1, domain::Payment::cancelled);
  trash.provider = domain::Provider::provider_b;
  trash.trashed = true;
  world.accept(trash);
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  ASSERT_TRUE(approve(id));
  settle();
  ASSERT_TRUE(has("u-ann", "file-1"));
  auto cancelled = paid(2, domain::Payment::cancelled);
  cancelled.provider = domain::Provider::provider_b;
  world.accept(cancelled);
  settle();
  EXPECT_FALSE(has("u-ann", "file-1")) << "stopped anew, and not by the trash";
}

TEST_F(OrderRules, AFileThatAnotherOrderOfTheUserOwesIsNotTakenBack) {
  auto_revoke();
  deliver(later(world, "1", {"sku-1"}, 0));
  world.hold_queue();
  auto second = later(world, "2", {"sku-1"}, 0);
  const auto other = *world.accept(second).delivery;
  world.accept(paid(1, domain::Payment::refunded));
  settle();
  EXPECT_EQ(world.cloud.count("revoke"), 0);
  EXPECT_EQ(world.status(other), "completed");
  EXPECT_EQ(world.items(other)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.items(other)[0].username, world.delivery(other).username);
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, AnOrderThatIsPaidAgainWhileAShareIsUnknownIsDelivered) {
  for (const auto fate : {Fate::lose_request, Fate::lose_answer}) {
    SCOPED_TRACE(static_cast<int>(fate));
    World fresh;
    bool lost = false;
    fresh.cloud.before = [&](auto& call, auto&) { return call == "share" ? once(lost, fate) : Fate::answer; };
    const auto id = fresh.deliver(later(fresh, "1", {"sku-1"}, 0));
    ASSERT_EQ(fresh.items(id)[0].status, ItemStatus::sharing);
    auto stop = later(fresh, "1", {"sku-1"}, 1);
    stop.payment = domain::Payment::cancelled;
    fresh.accept(stop);
    ASSERT_EQ(fresh.status(id), "invalidated");
    fresh.accept(later(fresh, "1", {"sku-1"}, 2));
    fresh.settle(std::chrono::hours{2});
    EXPECT_EQ(fresh.status(id), "completed");
    EXPECT_EQ(fresh.cloud.shares.size(), 1u);
    expect_books_balance(fresh);
  }
}

TEST_F(OrderRules, AnOrderThatIsPaidAgainAfterItsShareWasFoundIsCompleted) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(paid(1, domain::Payment::cancelled));
  settle(std::chrono::hours{2});
  ASSERT_EQ(world.status(id), "invalidated");
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::shared);
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(OrderRules, ARefundTakesBackWhatAFormerCustomerGotWhileThePresentOneHasNothingYet) {
  auto_revoke();
  world.cloud.unknown_files = {"file-2"};
  const auto id = deliver(named("Ann", 0, {"sku-1", "sku-2"}));
  settle();
  ASSERT_TRUE(has("u-ann", "file-1"));
  world.cloud.unknown_files = {};
  world.hold_queue();
  ASSERT_TRUE(retry(id, "Bob"));
  world.accept(refund("r1", {{"L1", 1}}));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_FALSE(has("u-bob", "file-1"));
  EXPECT_TRUE(has("u-bob", "file-2"));
}

TEST_F(OrderRules, AShareThatIsFoundAfterItsLineWasTakenOutOfTheOrderIsTakenBack) {
  auto_revoke();
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.items(id)[0].status, ItemStatus::sharing);
  auto less = later(world, "1", {"sku-1"}, 1);
  less.lines[0].quantity = 0;
  world.accept(less);
  settle(std::chrono::hours{2});
  EXPECT_TRUE(world.cloud.shares.empty());
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoked);
}

TEST_F(OrderRules, ARefundTakesBackFromFormerCustomersToo) {
  auto_revoke();
  world.cloud.unknown_files = {"file-2"};
  const auto id = deliver(named("Ann", 0, {"sku-1", "sku-2"}));
  settle();
  world.cloud.unknown_files = {};
  ASSERT_TRUE(retry(id, "Bob"));
  settle();
  ASSERT_EQ(world.cloud.shares.size(), 3u);
  world.accept(refund("r1", {{"L1", 1}}));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_FALSE(has("u-bob", "file-1"));
  EXPECT_TRUE(has("u-bob", "file-2"));
}

// ---------------------------------------------------------------- credits

TEST_F(OrderRules, ARevocationThatFailsHoldsUpNoOtherOrderOfTheCustomer) {
  const auto first = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(first), "completed");
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::lose_request : Fate::answer; };
  ASSERT_TRUE(revoke(first));
  settle();
  ASSERT_EQ(world.items(first)[0].status, ItemStatus::revoking);
  const auto second = world.deliver(later(world, "2", {"sku-2"}, 0));
  settle();
  EXPECT_EQ(world.status(second), "completed");
}

TEST_F(OrderRules, AMerchantWhoReopensAfterInvalidatingDuringAJobHasTheLastWord) {
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  const auto id = deliver(named("Ann", 0));
  ASSERT_EQ(world.status(id), "processing");
  ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "mistaken")));
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "in_review");
}

TEST_F(OrderRules, ACorrectedNameStartsTheFourteenDaysAnew) {
  world.cloud.auto_accept = false;
  const auto id = deliver(named("Ann", 0));
  settle(std::chrono::hours{24 * 15});
  ASSERT_EQ(world.status(id), "failed friendship_timeout");
  ASSERT_TRUE(retry(id));
  world.accept(named("Bob", 1));
  settle(std::chrono::hours{24 * 2});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  world.accept(named("Cid", 2));
  settle(std::chrono::hours{24 * 13});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  settle(std::chrono::hours{24 * 2});
  EXPECT_EQ(world.status(id), "failed friendship_timeout");
}

TEST_F(OrderRules, NoFriendRequestIsSentForWhatCannotBePaid) {
  World poor(World::unlimited(), 1);
  poor.hold_queue();
  poor.cloud.auto_accept = false;
  poor.cloud.friendships["u-ann"] = cloud::FriendshipState::friends;
  poor.accept(poor.order("1", "Ann", {"sku-1"}));
  const auto second = *poor.accept(poor.order("2", "Bob", {"sku-1"})).delivery;
  poor.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE customers SET due_at = due_at + 5000 WHERE username_key = 'Bob'"});
  });
  poor.settle(std::chrono::minutes{1});
  EXPECT_EQ(poor.status(second), "failed insufficient_credits");
  EXPECT_EQ(poor.cloud.requests["u-bob"], 0);
  poor.grant(1);
  poor.settle(std::chrono::minutes{1});
  EXPECT_EQ(poor.status(second), "waiting_for_friendship");
}

TEST_F(OrderRules, WithoutACreditWhatCostsNothingIsDelivered) {
  World poor(World::unlimited(), 1);
  poor.deliver(poor.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(poor.balance().available(), 0);
  const auto same = poor.deliver(poor.order("2", "Ann", {"sku-1"}));
  EXPECT_EQ(poor.status(same), "completed") << "the customer has the file";
  const auto other = poor.deliver(poor.order("3", "Ann", {"sku-2"}));
  EXPECT_EQ(poor.status(other), "failed insufficient_credits");
}

// ---------------------------------------------------------------- by hand

TEST_F(OrderRules, WhatFailedOrWaitsIsMarkedAsDeliveredByHand) {
  world.cloud.auto_accept = false;
  const auto waiting = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), waiting)));
  EXPECT_EQ(world.status(waiting), "completed");
  EXPECT_EQ(world.items(waiting)[0].status, ItemStatus::delivered_by_hand);
  world.cloud.unknown_users = {"Nobody"};
  const auto failed = deliver(world.order("2", "Nobody", {"sku-1"}));
  ASSERT_EQ(world.status(failed), "failed username_not_found");
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), failed)));
  EXPECT_EQ(world.status(failed), "completed");
  EXPECT_EQ(world.balance().spent, 0);
}

}  // namespace
}  // namespace presetbridge::services
