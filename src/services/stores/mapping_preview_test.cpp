#include "services/stores/mapping_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/stores/products.h"
#include "services/stores/unmapped_orders.h"
#include "services/testing.h"

namespace presetbridge::services {
namespace {

using ::testing::ElementsAre;
using testing::World;

class MappingPreviewTest : public ::testing::Test {
 protected:
  MappingPreview preview(PreviewRequest request) {
    return world.await(previews.preview(world.scheduler, world.merchant(), world.integration, request))
        .value();
  }
  static std::vector<WantedMapping> mapped(std::vector<std::string> skus) {
    std::vector<WantedMapping> wanted;
    for (auto& sku : skus) wanted.push_back({.match_value = sku, .file_id = "file-of-" + sku});
    return wanted;
  }

  World world;
  MappingPreviews previews{world.async_db, MappingLimits{}};
};

TEST_F(MappingPreviewTest, WhatIsSharedCostsNoCreditAgain) {
  world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(preview({.order_id = "1"}).credits, 0);
  const auto wanted = mapped({"sku-1"});
  EXPECT_EQ(preview({.order_id = "1", .mappings = wanted}).credits, 1) << "another file";
}

TEST_F(MappingPreviewTest, AFileOfADryRunIsNotShared) {
  auto rehearsal = world.order("1", "Ann", {"sku-1", "sku-2"});
  rehearsal.test = true;
  const auto id = world.deliver(rehearsal);
  ASSERT_TRUE(world.delivery(id).dry_run);
  ASSERT_EQ(world.status(id), "completed");
  EXPECT_EQ(preview({.order_id = "1"}).credits, 2);
}

TEST_F(MappingPreviewTest, WhatIsRefundedCostsNoCredit) {
  world.hold_queue();
  auto event = testing::later(world, "1", {"sku-1", "sku-2"}, 0);
  event.refunds = {{"r1", {{"L1", 1}}}};
  world.accept(event);
  const auto shown = preview({.order_id = "1"});
  EXPECT_EQ(shown.credits, 1);
  EXPECT_EQ(shown.lines.front().paid_quantity, 0);
}

TEST_F(MappingPreviewTest, OrdersThatHaveEndedAreNotServed) {
  auto open = testing::later(world, "1", {"new"}, 0);
  world.accept(open);
  auto refunded = testing::later(world, "2", {"new"}, 0);
  world.accept(refunded);
  refunded.payment = domain::Payment::refunded;
  refunded.updated_at = *refunded.updated_at + Millis{60'000};
  world.accept(refunded);
  auto taken_out = testing::later(world, "3", {"new"}, 0);
  taken_out.lines.front().current_quantity = 0;
  world.accept(taken_out);
  EXPECT_EQ(preview({.mappings = mapped({"new"})}).reprocessable_orders, 1);
  EXPECT_EQ(preview({}).reprocessable_orders, 0);
}

TEST_F(MappingPreviewTest, AnOrderWhoseDeliveryAPersonInvalidatedIsNotServedUntilItIsReopened) {
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "new"}));
  const auto wanted = mapped({"new"});
  EXPECT_EQ(preview({.mappings = wanted}).reprocessable_orders, 1);
  ASSERT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "mistaken")));
  const auto shown = preview({.mappings = wanted});
  EXPECT_EQ(shown.reprocessable_orders, 0);
  EXPECT_EQ(shown.reprocessable_credits, 0);
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(preview({.mappings = wanted}).reprocessable_orders, 1);
}

TEST_F(MappingPreviewTest, AnotherFileOfALineThatHasAMappingCostsACreditToo) {
  world.deliver(world.order("1", "Ann", {"sku-1", "new"}));
  auto wanted = mapped({"sku-1", "new"});
  wanted.front().file_id = "file-1";  // as it is
  const auto same = preview({.mappings = wanted});
  EXPECT_EQ(same.reprocessable_orders, 1);
  EXPECT_EQ(same.reprocessable_credits, 1);
  wanted.front().file_id = "another";
  const auto other = preview({.mappings = wanted});
  EXPECT_EQ(other.reprocessable_orders, 1);
  EXPECT_EQ(other.reprocessable_credits, 2);
}

TEST_F(MappingPreviewTest, AnOrderThatBecameTooLargeShowsNothingOfTheLinesOfBefore) {
  world.accept(testing::later(world, "1", {"sku-1", "new"}, 0));
  auto large = testing::later(world, "1", {}, 1);
  large.too_large = true;
  world.accept(large);
  const auto shown = preview({.order_id = "1", .mappings = mapped({"sku-1", "new"})});
  EXPECT_TRUE(shown.too_large);
  EXPECT_TRUE(shown.lines.empty());
  EXPECT_TRUE(shown.files.empty());
  EXPECT_EQ(shown.credits, 0);
  EXPECT_EQ(shown.reprocessable_orders, 0);
}

TEST_F(MappingPreviewTest, SoManyOrdersAreReadAtMost) {
  auto state = domain::merge(std::nullopt, world.order("1", "Ann", {"new"})).state;
  state.lines.front().mapped = domain::OrderLine::Mapped::nothing;
  std::vector<storage::OrderRow> rows;
  for (int i = 0; i < kMostUnmappedOrders + 1; ++i) {
    rows.push_back({.id = world.ids.make<OrderId>(),
                    .account = world.account,
                    .integration = world.integration,
                    .order_key = std::to_string(i),
                    .outcome = domain::OrderOutcome::no_mapped_items,
                    .state = encode(state),
                    .unmapped = 1});
  }
  world.write([&](storage::Tx& tx) { insert_orders(tx, rows); });
  const auto shown = preview({.mappings = mapped({"new"})});
  EXPECT_EQ(shown.reprocessable_orders, kMostUnmappedOrders);
  EXPECT_FALSE(shown.reprocessable_exact);
}

TEST_F(MappingPreviewTest, AnInactiveStoreServesNothing) {
  world.accept(world.order("1", "Ann", {"new"}));
  world.write([](storage::Tx& tx) { tx.exec_script("UPDATE integrations SET active = 0;"); });
  const auto shown = preview({.order_id = "1", .mappings = mapped({"new"})});
  EXPECT_EQ(shown.reprocessable_orders, 0);
  EXPECT_EQ(shown.outcome, domain::OrderOutcome::inactive);
  EXPECT_EQ(shown.credits, 1);
}

TEST_F(MappingPreviewTest, AnothersOrderIsNotThere) {
  const auto other = world.add_tenant("m-2");
  world.accept(other.integration, world.order("9", "Ann", {"sku-1"}));
  const auto shown = world.await(previews.preview(world.scheduler, world.merchant(), world.integration,
                                                  PreviewRequest{.order_id = "9"}));
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().code, "NOT_FOUND");
}

storage::MappingRow row(domain::MatchType type, std::string value, std::string file) {
  return {{{}, type, value, domain::MappingAction::deliver, file, "", ""}, value, false};
}

TEST(MappingDiff, AnotherFileForAKeyIsAChange) {
  using domain::MatchType;
  const std::vector before{row(MatchType::sku, "a", "1"), row(MatchType::sku, "b", "2"),
                           row(MatchType::sku, "b", "3"), row(MatchType::title, "a", "4")};
  const auto diff = diff_mappings(
      before, {row(MatchType::sku, "a", "9"), row(MatchType::sku, "b", "3"), row(MatchType::sku, "c", "5")});
  EXPECT_EQ(diff.changed, 1);
  EXPECT_EQ(diff.removed, 2);
  EXPECT_EQ(diff.added, 1);
  const auto same = diff_mappings(before, before);
  EXPECT_EQ(same.added + same.changed + same.removed, 0);
}

}  // namespace
}  // namespace presetbridge::services
