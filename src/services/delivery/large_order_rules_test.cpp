// Orders with more lines or files than are read or served at once (spec 2.9).
#include "services/delivery/combined_rules_testing.h"
#include "services/orders/orders.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::Payment;
using domain::ReviewReason;
using testing::CombinedRules;
using testing::later;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;
using namespace std::chrono_literals;

TEST_F(CombinedRules, AnOrderThatIsTooLargeComesBackToReviewWhenItIsPaidAgain) {
  auto event = paid(1, Payment::deliver, {});
  event.too_large = true;
  const auto id = deliver(event);
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  event.updated_at = *event.updated_at + 1min;
  event.payment = Payment::cancelled;
  world.accept(event);
  ASSERT_EQ(world.status(id), "invalidated");
  event.updated_at = *event.updated_at + 1min;
  event.payment = Payment::deliver;
  world.accept(event);
  EXPECT_EQ(world.status(id), "in_review order_too_large");
}

TEST_F(CombinedRules, ACompletedOrderThatBecomesTooLargeToBeReadIsBroughtToReview) {
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  ASSERT_EQ(world.status(id), "completed");
  auto larger = later(world, "1", {}, 2);
  larger.too_large = true;
  world.accept(larger);
  EXPECT_EQ(world.status(id), "in_review order_too_large");
}

// Without the end it would fail for want of credits, although nothing is left to pay for.
TEST_F(CombinedRules, AnApprovedOrderThatIsReadableAndMappedToNothingDeliversNothing) {
  World poor(World::unlimited(), 0);
  auto event = later(poor, "1", {}, 1);
  event.too_large = true;
  const auto id = poor.deliver(event);
  ASSERT_EQ(poor.status(id), "in_review order_too_large");
  auto trashed = later(poor, "1", {}, 2);
  trashed.payment = Payment::cancelled;
  trashed.too_large = true;
  poor.accept(trashed);
  ASSERT_EQ(poor.status(id), "invalidated");
  poor.accept(later(poor, "1", {"unknown"}, 3));
  ASSERT_TRUE(poor.await(poor.actions.reopen(poor.scheduler, poor.merchant(), id)));
  ASSERT_TRUE(poor.items(id).empty());
  ASSERT_TRUE(poor.await(poor.actions.approve(poor.scheduler, poor.merchant(), id)));
  EXPECT_EQ(poor.status(id), "invalidated");
  EXPECT_EQ(poor.delivery(id).reason, "nothing_to_deliver");
}

TEST_F(CombinedRules, AnEventFromBeforeAnApprovedSizeAsksNothingAnew) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  world.accept(too_large(5));
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  ASSERT_TRUE(approve(id));
  settle();
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 3));
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  world.cloud.accept("u-ann");
  settle(1h);
  ASSERT_EQ(world.status(id), "completed");
  world.accept(later(world, "1", {"sku-2"}, 4));
  EXPECT_EQ(world.status(id), "completed");
  world.accept(later(world, "1", {"sku-1", "sku-2"}, 6));
  settle();
  EXPECT_TRUE(has("u-ann", "file-2")) << "it can be read again";
}

TEST_F(CombinedRules, AShareThatWasNotMadeStaysOwedThoughTheOrderBecameTooLarge) {
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  const auto id = world.accept(later(world, "1", {"sku-1"}, 1)).delivery.value();
  ASSERT_EQ(item(id), ItemStatus::sharing);
  auto larger = later(world, "1", {}, 2);
  larger.too_large = true;
  world.accept(larger);
  settle(1h);
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(item(id), ItemStatus::owed);
}

TEST_F(CombinedRules, AnOrderThatWasTooLargeForAWhileGetsNothingMoreByLaterMappings) {
  const auto id = deliver(later(world, "1", {"sku-1", "new"}, 1));
  ASSERT_EQ(world.status(id), "completed");
  map("new", "file-9");
  world.accept(too_large(2));
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  world.accept(later(world, "1", {"sku-1", "new"}, 3));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(has("u-ann", "file-9"));
}

TEST_F(CombinedRules, AnOrderWithoutAMappingThatWasTooLargeAndStoppedGetsNothingByLaterMappings) {
  ASSERT_FALSE(world.accept(later(world, "1", {"new"}, 1)).delivery);
  const auto id = deliver(too_large(2));
  map("new", "file-9");
  world.accept(paid(3, Payment::cancelled, {"new"}));
  ASSERT_EQ(world.status(id), "invalidated");
  world.accept(paid(4, Payment::deliver, {"new"}));
  settle();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_FALSE(has("u-ann", "file-9"));
}

TEST_F(CombinedRules, AnOrderThatBecameTooLargeBeforeItWasPaidIsMappedOnceItCanBeRead) {
  ASSERT_FALSE(world.accept(paid(1, Payment::awaiting_payment)).delivery);
  const auto id = deliver(too_large(2));
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  world.accept(later(world, "1", {"sku-1"}, 3));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(CombinedRules, ANewNameOfAnOrderThatIsTooLargeIsOwedTheFilesThatItHadBefore) {
  for (const bool edited_back : {false, true}) {
    SCOPED_TRACE(edited_back);
    World fresh;
    const auto id = fresh.deliver(later(fresh, "1", {"sku-1", "sku-2"}, 1));
    auto large = later(fresh, "1", {}, 2);
    large.too_large = true;
    fresh.accept(large);
    ASSERT_EQ(fresh.status(id), "in_review order_too_large");
    ASSERT_TRUE(fresh.await(fresh.actions.retry(fresh.scheduler, fresh.merchant(), id, "Bob")));
    if (edited_back) fresh.accept(later(fresh, "1", {"sku-1", "sku-2"}, 3));
    ASSERT_TRUE(fresh.await(fresh.actions.approve(fresh.scheduler, fresh.merchant(), id)));
    fresh.settle();
    EXPECT_EQ(fresh.status(id), "completed");
    EXPECT_TRUE(fresh.cloud.shares.contains({"u-bob", "file-1"}));
    EXPECT_TRUE(fresh.cloud.shares.contains({"u-bob", "file-2"}));
  }
}

TEST_F(CombinedRules, AnOrderThatIsPaidAgainAndTooLargeWhileItsFileIsTakenBackHasItAfterAnApproval) {
  auto_revoke();
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  fail_calls("revoke", Fate::hold_done);
  world.accept(paid(2, Payment::cancelled));
  settle();
  ASSERT_EQ(world.cloud.held(), 1U);
  world.accept(too_large(3));
  end_revocation();
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_FALSE(has("u-ann", "file-1"));
  ASSERT_TRUE(approve(id));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "file-1"));
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(CombinedRules, AShareOfAnOrderThatBecameTooLargeIsNotKnownToBeRefunded) {
  auto_revoke();
  fail_calls("share", Fate::hold_done);
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  ASSERT_EQ(world.status(id), "processing");
  world.accept(too_large(2));
  world.accept(refund("r1", {{"L1", 1}}));
  world.cloud.before = nullptr;
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(item(id), ItemStatus::shared);
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(CombinedRules, ARefundOfAnOrderThatIsTooLargeLeavesWhatWasDeliveredByHand) {
  const auto id = deliver(too_large(2));
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), id)));
  ASSERT_EQ(world.status(id), "completed");
  world.accept(refund("r1", {{"L1", 1}}));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  auto updated = too_large(3);
  updated.refunds = {{"r2", {{"L2", 1}}}};
  world.accept(updated);
  settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(CombinedRules, AnOrderThatIsTooLargeShowsNoLinesOfBefore) {
  const auto id = deliver(later(world, "1", {"sku-1", "new"}, 1));
  world.accept(too_large(2));
  Orders orders(world.async_db, world.changes, world.directory, [] {});
  const auto get = [&] {
    return world.await(orders.get(world.scheduler, world.merchant(), OrderId{id.value})).value();
  };
  EXPECT_TRUE(get().lines.empty());
  EXPECT_EQ(get().order.summary.lines, 0);
  EXPECT_EQ(get().order.unmapped, 0);
  world.accept(later(world, "1", {"sku-1", "new"}, 3));
  EXPECT_EQ(get().lines.size(), 2U);
  EXPECT_EQ(get().order.summary.lines, 2);
  EXPECT_EQ(get().order.unmapped, 1);
}

TEST_F(CombinedRules, MoreFilesThanAreServedAreBroughtToReview) {
  for (int i = 0; i < 500; ++i) map("many", "file-x" + std::to_string(i));
  const auto id = deliver(later(world, "1", {"sku-1"}, 1));
  ASSERT_EQ(world.status(id), "completed");
  world.accept(later(world, "1", {"sku-1", "many"}, 2));
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(reason(id), ReviewReason::too_large);
}

TEST_F(CombinedRules, AnOrderThatGrowsTooLargeDuringItsLastShareGoesToReview) {
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold : Fate::answer; };
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.status(id), "processing");
  auto large = later(world, "1", {}, 1);
  large.too_large = true;
  world.accept(large);
  world.cloud.before = nullptr;
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "in_review order_too_large");
}

TEST_F(CombinedRules, OtherFilesReplaceMoreThanHalfOfWhatADeliveryMayOwe) {
  constexpr int kMany = 300;
  const auto map_all = [&](const std::string& prefix) {
    std::vector<storage::MappingRow> rows;
    for (int i = 0; i < kMany; ++i) {
      const auto sku = "sku-" + std::to_string(i % 3);
      rows.push_back({{world.ids.make<MappingId>(), domain::MatchType::sku, sku,
                       domain::MappingAction::deliver, prefix + std::to_string(i), "preset", "F"},
                      sku});
    }
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      replace_mappings(tx, world.integration, rows);
      update_integration(tx, row);
    });
    world.directory.forget(world.integration);
  };
  map_all("old-");
  for (int i = 0; i < kMany; ++i) world.cloud.unknown_files.insert("old-" + std::to_string(i));
  const auto id = deliver(later(world, "1", {"sku-0", "sku-1", "sku-2"}, 0));
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  map_all("new-");
  resume_mappings();
  settle(2h);
  EXPECT_EQ(world.status(id), "completed");
}

}  // namespace
}  // namespace presetbridge::services
