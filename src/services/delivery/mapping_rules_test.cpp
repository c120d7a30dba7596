// The items that a store's later events and saved mappings make an order owe (spec 2.6, 2.10, 3.11), as the
// merchant sees it.
#include "services/delivery/order_rules_testing.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::OrderEvent;
using testing::expect_books_balance;
using testing::later;

class MappingRules : public testing::OrderRules {
 protected:
  void leave_credits(std::int64_t credits) {
    world.write([&](storage::Tx& tx) {
      auto balance = *lock_balance(tx, world.account);
      update_balance(tx, world.account, domain::reverse(balance, balance.available() - credits).value());
    });
  }
};

// ---------------------------------------------------------------- mappings

TEST_F(MappingRules, AMappingThatIsMadeLaterSendsNothingMoreOfAnOldOrder) {
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

TEST_F(MappingRules, AnOrderThatNothingWasMappedOfStaysSoWhateverTheStoreReportsOfItLater) {
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

TEST_F(MappingRules, ALineThatIsNewOrAnotherProductIsMapped) {
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

TEST_F(MappingRules, AnOrderIsMappedWhenItFirstBecomesDeliverable) {
  EXPECT_EQ(world.accept(paid(0, domain::Payment::awaiting_payment, {"new"})).reason, "awaiting_payment");
  map("new", "file-1");
  EXPECT_TRUE(world.accept(paid(1, domain::Payment::deliver, {"new"})).delivery);
  settle();
  EXPECT_TRUE(has("u-ann", "file-1"));
}

TEST_F(MappingRules, AFileThatTwoLinesOweStaysOwedWhenOneOfThemIsRefunded) {
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

TEST_F(MappingRules, ASavedMappingReplacesTheMissingFileAlone) {
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

TEST_F(MappingRules, AMappingThatLostTheMissingFileTakesNothingAwayUntilARetry) {
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

TEST_F(MappingRules, AMissingFileIsReplacedByOneThatAnotherLineGave) {
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

TEST_F(MappingRules, AMissingFileThatNeedsNoOtherAnyMoreNeedsNoCreditEither) {
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "file-2");
  leave_credits(0);
  resume_mappings();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.delivery(id).resolution, domain::ResolutionCode::none);
}

TEST_F(MappingRules, AMappingThatIsSavedDuringAJobNeedsNoCreditForWhatItTakesAway) {
  world.cloud.sharing = [&](const std::string&, const std::string& file) {
    if (file != "file-1") return;
    unmap("sku-1");
    map("sku-1", "file-2");
  };
  world.cloud.unknown_files = {"file-1"};
  leave_credits(1);
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
}

TEST_F(MappingRules, EachLineThatOwesAMissingFileGetsItsOwnReplacement) {
  map("sku-2", "file-1");
  unmap_file("sku-2", "file-2");
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "found");
  unmap("sku-2");
  map("sku-2", "extra");
  resume_mappings();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("u-ann", "found"));
  EXPECT_TRUE(has("u-ann", "extra")) << "its line is paid";
}

TEST_F(MappingRules, ARefundedLineTakesNoReplacementFromAPaidOne) {
  map("sku-2", "file-1");
  unmap_file("sku-2", "file-2");
  world.cloud.unknown_files = {"file-1"};
  const auto id = deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  world.accept(refund("r1", {{"L1", 1}}));
  unmap("sku-1");
  map("sku-1", "found");
  unmap("sku-2");
  map("sku-2", "extra");
  resume_mappings();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(has("u-ann", "found"));
  EXPECT_TRUE(has("u-ann", "extra"));
}

TEST_F(MappingRules, AReplacementThatIsMissingTooBringsNoFurtherFiles) {
  world.cloud.unknown_files = {"file-1", "found"};
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  settle();
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  unmap("sku-1");
  map("sku-1", "found");
  map("sku-1", "one more");
  resume_mappings();
  resume_mappings();
  EXPECT_EQ(world.status(id), "failed preset_not_found");
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST_F(MappingRules, ARetryMapsTheWholeOrderAgain) {
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

TEST_F(MappingRules, ARetryAfterTheMappingBecameIgnoreEndsAsNothingToDeliver) {
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

TEST_F(MappingRules, RefundsOfAllThatIsOwedEndAsRefunded) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  world.accept(refund("r1", {{"L1", 1}}));
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "order_refunded");
}

// ---------------------------------------------------------------- answers

TEST_F(MappingRules, ADuplicateIsAnEventThatBringsNoNews) {
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

TEST_F(MappingRules, TheKeptBodyIsTheNewestOfTheOrderItself) {
  const auto with_body = [&](OrderEvent event, char byte) {
    event.received_at = world.database.clock.now();
    auto snapshot = world.await(world.directory.find(world.scheduler, world.integration)).value();
    world.await(world.intake.accept(world.scheduler, {snapshot, event, {std::byte(byte)}, {}})).value();
  };
  const auto stored = [&] {
    return world.write([](storage::Tx& tx) {
      return tx.one({"SELECT body FROM order_payloads"}, [](const storage::Row& r) { return r.bytes(0)[0]; });
    });
  };
  with_body(later(world, "1", {"sku-1"}, 5), 'a');
  with_body(refund("r1", {{"L1", 1}}), 'b');
  EXPECT_EQ(stored(), std::byte('a')) << "a refund is not the order";
  auto older = later(world, "1", {"sku-1"}, 1);
  older.refunds = {{"r2", {}}};
  with_body(older, 'c');
  EXPECT_EQ(stored(), std::byte('a')) << "an older one is not the newest";
  with_body(later(world, "1", {"sku-2"}, 9), 'd');
  EXPECT_EQ(stored(), std::byte('d'));
}

}  // namespace
}  // namespace presetbridge::services
