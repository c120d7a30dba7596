// The effects of the end of an order and of a later payment on its deliveries (spec 2.11, 3.10), and their costs.
#include <utility>

#include "services/delivery/end_rules_testing.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::EndRules;
using testing::expect_books_balance;
using testing::later;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

// ---------------------------------------------------------------- ends and what they take back

TEST_F(EndRules, AStoppedOrderThatIsPaidAgainGivesTheFileBackForNothing) {
  const auto id = deliver_revocably();
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

TEST_F(EndRules, AStopThatBecomesAWaitForThePaymentGivesNothingAgain) {
  const auto id = deliver_revocably();
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

TEST_F(EndRules, AStopThatBecomesAWaitForThePaymentStillTakesBackWhatItBegan) {
  const auto id = deliver_revocably();
  world.hold_queue();
  world.accept(paid(1, domain::Payment::cancelled));
  world.accept(paid(2, domain::Payment::awaiting_payment));
  settle();
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(EndRules, WithoutACreditLeftAnItemThatWasChargedIsSharedAgain) {
  const auto id = deliver_revocably();
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

TEST_F(EndRules, ARevocationNotYetBegunIsDroppedAndOneBegunIsSettledFirst) {
  const auto id = deliver_revocably();
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

TEST_F(EndRules, ARevocationThatHadNoEffectIsDroppedWhereTheOrderWasPaidAgainMeanwhile) {
  const auto id = deliver_revocably();
  bool limited = false;
  world.cloud.before = [&](auto& call, auto&) {
    if (call != "revoke" || std::exchange(limited, true)) return Fate::answer;
    world.accept(paid(2, domain::Payment::deliver));
    return Fate::rate_limit;
  };
  world.accept(paid(1, domain::Payment::cancelled));
  settle(std::chrono::hours{1});
  ASSERT_TRUE(limited);
  EXPECT_EQ(world.cloud.count("revoke"), 1);
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(EndRules, WhoPaysAgainHasTheFileThoughTheProcessDiedWhileItWasTakenBack) {
  const auto id = deliver_revocably();
  bool taken_back = false;
  world.cloud.before = [&](auto& call, auto&) {
    if (call != "revoke") return Fate::answer;
    return std::exchange(taken_back, true) ? Fate::blocked : Fate::hold_done;
  };
  world.accept(paid(1, domain::Payment::cancelled));
  settle(Millis{10'000});
  ASSERT_EQ(world.cloud.held(), 1u);
  ASSERT_FALSE(has("u-ann", "file-1"));
  world.accept(paid(2, domain::Payment::deliver));
  world.crash();
  settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::shared);
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(EndRules, WhatAPersonTookBackOnlyAnApprovalGivesAgain) {
  const auto id = deliver_revocably();
  ASSERT_TRUE(revoke(id));
  settle();
  world.accept(paid(1, domain::Payment::cancelled));
  world.accept(paid(2, domain::Payment::deliver));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1"));
  reopen_and_approve(id);
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(EndRules, WhatAPersonRevokesWhileTheOrdersEndIsCarriedOutOnlyAnApprovalGivesAgain) {
  const auto id = deliver_revocably();
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

TEST_F(EndRules, ARefundOfALineTakesItsFileBackAndNoOther) {
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

TEST_F(EndRules, WithoutAutoRevokeARefundOfALineTakesNothingBack) {
  deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(EndRules, AFileThatAnotherOrderOfTheUserOwesIsNotTakenBack) {
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

TEST_F(EndRules, AnOrderThatIsPaidAgainWhileAShareIsUnknownIsDelivered) {
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

TEST_F(EndRules, AnOrderThatIsPaidAgainAfterItsShareWasFoundIsCompleted) {
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

TEST_F(EndRules, ARefundTakesBackWhatAFormerCustomerGotWhileThePresentOneHasNothingYet) {
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

TEST_F(EndRules, AShareThatIsFoundAfterItsLineWasTakenOutOfTheOrderIsTakenBack) {
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

TEST_F(EndRules, ARefundTakesBackFromFormerCustomersToo) {
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

TEST_F(EndRules, ARevocationThatFailsHoldsUpNoOtherOrderOfTheCustomer) {
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

TEST_F(EndRules, AMerchantWhoReopensAfterInvalidatingDuringAJobHasTheLastWord) {
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

TEST_F(EndRules, ACorrectedNameStartsTheFourteenDaysAnew) {
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

TEST_F(EndRules, NoFriendRequestIsSentForWhatCannotBePaid) {
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

TEST_F(EndRules, WithoutACreditWhatCostsNothingIsDelivered) {
  World poor(World::unlimited(), 1);
  poor.deliver(poor.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(poor.balance().available(), 0);
  const auto same = poor.deliver(poor.order("2", "Ann", {"sku-1"}));
  EXPECT_EQ(poor.status(same), "completed") << "the customer has the file";
  const auto other = poor.deliver(poor.order("3", "Ann", {"sku-2"}));
  EXPECT_EQ(poor.status(other), "failed insufficient_credits");
}

}  // namespace
}  // namespace presetbridge::services
