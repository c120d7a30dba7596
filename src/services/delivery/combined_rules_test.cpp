// Histories in which several rules meet: a stop and an approval, a revocation and another order, a new login and
// a wait (spec 2.10, 2.11, 3.1, 3.5, 3.10).
#include "services/delivery/combined_rules_testing.h"
#include "services/orders/orders.h"
#include "services/vault/vault_testing.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::Payment;
using testing::CombinedRules;
using testing::later;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;
using namespace std::chrono_literals;

// ---------------------------------------------------------------- waiting

TEST_F(CombinedRules, AnAcceptanceOfAnotherCloudUsersRequestIsSeenWithinMinutes) {
  world.cloud.auto_accept = false;
  testing::VaultOfWorld vault(world);
  const auto id = deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  settle(std::chrono::days{13} + 20h);
  vault.remove();
  settle();
  ASSERT_EQ(world.status(id), "failed credentials_missing");
  world.cloud.friendships.clear();  // of the former user
  vault.save("m-2");
  settle(10min);
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  settle(10h);
  EXPECT_EQ(world.status(id), "waiting_for_friendship") << "the new request has its own 14 days";
  world.cloud.accept("u-ann");
  settle(61min);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(CombinedRules, ANewRequestIsWatchedEachMinute) {
  world.cloud.auto_accept = false;
  testing::VaultOfWorld vault(world);
  const auto id = deliver(world.order("1", "Ann", {"sku-1"}));
  vault.remove();
  settle();
  world.cloud.friendships.clear();
  vault.save("m-2");
  settle(2min);
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  world.cloud.accept("u-ann");
  settle(2min);
  EXPECT_EQ(world.status(id), "completed");
}

// As a program of before left it: the request was not noted.
TEST_F(CombinedRules, AWaitWhoseRequestNobodyKnowsIsSweptEachHour) {
  world.cloud.auto_accept = false;
  const auto id = deliver(world.order("1", "Ann", {"sku-1"}));
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE cloud_accounts SET newest_request_at = NULL, sweep_due_at = $1"}, tx.now());
  });
  settle(3h);
  world.cloud.accept("u-ann");
  settle(61min);
  EXPECT_EQ(world.status(id), "completed");
}

// ---------------------------------------------------------------- stops, approvals and revocations

TEST_F(CombinedRules, AnApprovalEndsARevocationThatWasNotBegun) {
  auto_revoke();
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  world.stop_worker();
  world.accept(paid(2, Payment::cancelled));
  ASSERT_EQ(item(id), ItemStatus::revoking);
  ASSERT_TRUE(reopen(id));
  ASSERT_TRUE(approve(id));
  EXPECT_EQ(item(id), ItemStatus::shared);
  world.start_worker(World::unlimited());
  settle(1h);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.cloud.count("revoke"), 0);
  testing::expect_books_balance(world);
}

TEST_F(CombinedRules, AnApprovalIsObeyedOnceARevocationUnderWayHasEnded) {
  auto_revoke();
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  fail_calls("revoke", Fate::hold_done);
  world.accept(paid(2, Payment::cancelled));
  ASSERT_NO_FATAL_FAILURE(approve_while_it_is_revoked(id));
  end_revocation();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(item(id), ItemStatus::shared);
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1) << "it was charged once";
}

TEST_F(CombinedRules, AStopAfterAnApprovalLeavesTheRevokedFileRevoked) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  fail_calls("revoke", Fate::hold_done);
  ASSERT_TRUE(revoke(id));
  ASSERT_NO_FATAL_FAILURE(approve_while_it_is_revoked(id));
  world.accept(paid(2, Payment::cancelled));
  end_revocation();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(item(id), ItemStatus::revoked);
  EXPECT_FALSE(has("u-ann", "file-1"));
}

TEST_F(CombinedRules, AStopBeforeAReopeningDoesNotUndoTheApproval) {
  auto_revoke();
  testing::VaultOfWorld vault(world);
  bool lost = false;
  world.cloud.before = [&](auto& call, auto& file) {
    return call == "share" && file == "file-2" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  const auto id = world.accept(later(world, "1", {"sku-1", "sku-2"}, 1)).delivery.value();
  ASSERT_EQ(item(id, 1), ItemStatus::sharing);
  vault.remove();
  settle();
  ASSERT_EQ(world.status(id), "failed credentials_missing");
  world.accept(paid(2, Payment::cancelled, {"sku-1", "sku-2"}));
  ASSERT_EQ(world.delivery(id).pending.kind, domain::PendingActionKind::stop);
  ASSERT_TRUE(reopen(id));
  EXPECT_EQ(world.delivery(id).pending.kind, domain::PendingActionKind::none);
  vault.save("m-1");
  ASSERT_TRUE(approve(id));
  settle(3h);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_TRUE(has("u-ann", "file-2"));
}

TEST_F(CombinedRules, AFileOfAnUnpaidOrderIsTakenBackThoughAFailedDeliveryOwesIt) {
  auto_revoke();
  deliver(later(world, "1", {"sku-1"}, 1));
  fail_calls("share", Fate::reject);
  const auto failed = deliver(later(world, "2", {"sku-1", "sku-2"}, 1));
  ASSERT_EQ(world.status(failed), "failed cloud_rejected");
  world.cloud.before = nullptr;
  // The first order's file is owed by the second, which has no share of its own.
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE delivery_items SET status = 'owed', customer_id = NULL WHERE delivery_id = $1"}, failed);
  });
  auto unpaid = later(world, "2", {"sku-1", "sku-2"}, 2);
  unpaid.payment = Payment::awaiting_payment;
  world.accept(unpaid);
  world.accept(paid(3, Payment::refunded));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1"));
  EXPECT_EQ(world.status(failed), "failed cloud_rejected");
}

TEST_F(CombinedRules, AShareThatAnotherOrderMadeIsNotTakenBackForTheFormer) {
  const auto first = deliver(later(world, "1", {"sku-1"}, 1));
  fail_calls("revoke", Fate::lose_answer);
  ASSERT_TRUE(revoke(first));
  settle(std::chrono::days{5});
  ASSERT_EQ(item(first), ItemStatus::revoke_failed);
  world.cloud.before = nullptr;
  world.cloud.shares.clear();  // the platform did it, and nobody heard of it
  const auto second = deliver(later(world, "2", {"sku-1"}, 1));
  ASSERT_EQ(item(second), ItemStatus::shared);
  ASSERT_TRUE(revoke(first));
  settle();
  EXPECT_TRUE(has("u-ann", "file-1")) << "the second order's";
  EXPECT_EQ(item(first), ItemStatus::revoked);
  EXPECT_EQ(item(second), ItemStatus::shared);
}

TEST_F(CombinedRules, AnUnpaidAdditionIsDroppedByTheStopOfACompletedOrder) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  auto added = later(world, "1", {"sku-1", "sku-2"}, 2);
  added.payment = Payment::awaiting_payment;
  world.accept(added);
  ASSERT_EQ(item(id, 1), ItemStatus::owed);
  world.accept(paid(3, Payment::cancelled, {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(item(id, 1), ItemStatus::dropped);
  world.accept(paid(4, Payment::deliver, {"sku-1", "sku-2"}));
  settle();
  EXPECT_TRUE(has("u-ann", "file-2")) << "owed again once it is paid";
}

// ---------------------------------------------------------------- edits and mappings

TEST_F(CombinedRules, ASharedFileStaysItsLinesWhenTheProductIsMappedToAnother) {
  auto_revoke();
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  unmap("sku-1");
  map("sku-1", "file-9");
  world.directory.forget(world.integration);
  Orders orders(world.async_db, world.changes, world.directory, [this] { world.worker->wake(); });
  ASSERT_TRUE(world.await(orders.reprocess(world.scheduler, world.merchant(), OrderId{id.value})));
  settle();
  ASSERT_TRUE(has("u-ann", "file-1"));
  ASSERT_TRUE(has("u-ann", "file-9"));
  world.accept(refund("r1", {{"L1", 1}}));
  settle();
  EXPECT_FALSE(has("u-ann", "file-1")) << "the line that it was delivered for is refunded";
}

TEST_F(CombinedRules, ADeliveryThatFailedForAFileGoesOnWhenTheOrderOwesItNoMore) {
  world.cloud.unknown_files = {"file-2"};
  const auto id = deliver(later(world, "1", {"sku-2"}, 1));
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  world.accept(later(world, "1", {"sku-3"}, 2));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-3"));
}

TEST(CombinedRulesOfCredits, NoRequestIsSentForAUserWhoseFilesCannotBePaid) {
  World world(World::unlimited(), 1);
  auto event = later(world, "1", {"sku-1"}, 1);
  const auto id = world.deliver(event);
  ASSERT_EQ(world.status(id), "completed");
  world.auto_revoke();
  event.payment = Payment::cancelled;
  event.updated_at = *event.updated_at + 1min;
  world.accept(event);
  world.settle();
  ASSERT_TRUE(world.cloud.shares.empty());
  event.payment = Payment::deliver;
  event.updated_at = *event.updated_at + 1min;
  event.username = event.raw_username = "Bob";
  world.accept(event);
  world.settle(10min);
  EXPECT_EQ(world.status(id), "failed insufficient_credits");
  EXPECT_EQ(world.cloud.requests["u-bob"], 0);
}

// ---------------------------------------------------------------- a second reading

TEST_F(CombinedRules, AReopenedDeliveryShowsTheRiskThatCameAfterItsEnd) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "mistaken")));
  domain::OrderEvent risk{
      .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  ASSERT_TRUE(reopen(id));
  EXPECT_EQ(reason(id), domain::ReviewReason::high_risk);
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(CombinedRules, AReopenedDeliveryShowsThatItsOrderIsNotPaid) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.status(id), "completed");
  world.accept(paid(1, domain::Payment::awaiting_payment, {"sku-1", "sku-2"}));
  ASSERT_TRUE(reopen(id));
  EXPECT_EQ(reason(id), domain::ReviewReason::payment_withdrawn);
}

TEST_F(CombinedRules, ARetryThatFailsAtOnceLeavesTheOthersWaiting) {
  World poor(World::unlimited(), 2);
  poor.cloud.auto_accept = false;
  const auto first = poor.deliver(poor.order("1", "Ann", {"sku-1"}));
  poor.settle(std::chrono::days{7});
  const auto second = poor.deliver(poor.order("2", "Ann", {"sku-2"}));
  poor.settle(std::chrono::days{8});
  ASSERT_EQ(poor.status(first), "failed friendship_timeout");
  ASSERT_EQ(poor.status(second), "waiting_for_friendship");
  poor.write(
      [&](storage::Tx& tx) { tx.exec({"UPDATE accounts SET granted = 0 WHERE id = $1"}, poor.account); });
  ASSERT_TRUE(poor.await(poor.actions.retry(poor.scheduler, poor.merchant(), first, std::nullopt)));
  ASSERT_EQ(poor.status(first), "failed insufficient_credits");
  poor.settle(std::chrono::days{7});
  EXPECT_EQ(poor.status(second), "failed friendship_timeout");
}

TEST_F(CombinedRules, ABuyersRetryChangesNothingOfWhatTheMerchantOwes) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  settle(std::chrono::days{15});
  ASSERT_EQ(world.status(id), "failed friendship_timeout");
  world.write([&](storage::Tx& tx) {
    replace_mappings(tx, world.integration, {});
    DeliverySet set(tx, world.changes);
    auto* const row = set.delivery(id);
    ASSERT_TRUE(DeliveryActions::retry_row(set, *row, "", domain::Actor::buyer()));
    set.save();
  });
  world.worker->wake();
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(item(id), ItemStatus::owed);
}

TEST_F(CombinedRules, AReopeningTakesBackAStopThatWaitsForTheJob) {
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold : Fate::answer; };
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  ASSERT_EQ(world.status(id), "processing");
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  ASSERT_TRUE(reopen(id));
  world.cloud.before = nullptr;
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "in_review");
}

TEST_F(CombinedRules, ACompletionSaysThatSomeFilesAreNoLongerOwed) {
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold : Fate::answer; };
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  world.accept(paid(1, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  world.cloud.before = nullptr;
  world.cloud.release();
  settle();
  ASSERT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.delivery(id).message, "The files that the order still owes were shared with the customer.");
}

TEST_F(CombinedRules, ANewNameOfAStoppedOrderOwesNothingUntilItIsPaidAgain) {
  auto_revoke();
  world.cloud.other_ids = {{"ANN", "u-ann"}};
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  auto large = later(world, "1", {}, 1);
  large.too_large = true;
  world.accept(large);
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  world.accept(paid(2, domain::Payment::cancelled, {"sku-1", "sku-2"}));
  settle();
  ASSERT_EQ(item(id), ItemStatus::revoked);
  ASSERT_TRUE(retry(id, "ANN"));
  for (const auto& it : world.items(id)) EXPECT_NE(it.status, ItemStatus::owed);
  world.accept(paid(3, domain::Payment::deliver, {"sku-1", "sku-2"}));
  settle();
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(CombinedRules, ARetryOfAStoppedOrderThatWasApprovedReadsTheMappingsAgain) {
  world.cloud.before = [](auto& call, auto& what) {
    return call == "share" && what == "file-1" ? Fate::reject : Fate::answer;
  };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.status(id), "failed cloud_rejected");
  world.accept(paid(1, domain::Payment::cancelled));
  ASSERT_TRUE(reopen(id));
  ASSERT_TRUE(approve(id));
  settle();
  ASSERT_EQ(world.status(id), "failed cloud_rejected");
  world.write([&](storage::Tx& tx) { replace_mappings(tx, world.integration, {}); });
  map("sku-1", "file-2");
  ASSERT_TRUE(retry(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-2"));
}

TEST_F(CombinedRules, ARetryThatWaitsForAnApprovalAsksAnewAfterIt) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.cloud.change("u-ann", cloud::FriendshipState::declined);
  settle(1h);
  ASSERT_EQ(world.status(id), "failed friend_request_declined");
  domain::OrderEvent risk{
      .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  ASSERT_TRUE(retry(id));
  ASSERT_EQ(world.status(id), "in_review");
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
}

TEST_F(CombinedRules, AStoppedOrderThatIsDeliveredByHandToANewNameIsComplete) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_TRUE(reopen(id));
  world.accept(paid(1, domain::Payment::cancelled));
  ASSERT_TRUE(retry(id, "Bob"));
  ASSERT_EQ(world.status(id), "in_review");
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(world.status(id), "completed");
  const auto items = world.items(id);
  EXPECT_EQ(std::ranges::count(items, ItemStatus::delivered_by_hand, &storage::ItemRow::status), 1);
}

TEST_F(CombinedRules, ALoginThatIsLostDuringAFriendRequestFailsTheDelivery) {
  testing::VaultOfWorld vault(world);
  world.cloud.auto_accept = false;
  world.cloud.before = [](auto& call, auto&) { return call == "request" ? Fate::hold : Fate::answer; };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.cloud.held(), 1U);
  vault.remove();
  settle();
  world.cloud.before = nullptr;
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "failed credentials_missing");
  settle(std::chrono::days{20});
  EXPECT_EQ(world.status(id), "failed credentials_missing");
}

}  // namespace
}  // namespace presetbridge::services
