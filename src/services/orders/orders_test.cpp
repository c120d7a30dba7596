// Orders as a merchant sees them, and processing one of them again (spec 9.3).
#include "services/orders/orders.h"

#include <gmock/gmock.h>

#include "services/operation/housekeeping.h"
#include "services/orders/orders_testing.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::OrderEvent;
using ::testing::ElementsAre;
using testing::expect_books_balance;
using ::testing::IsEmpty;
using testing::later;
using testing::OrdersTest;
using ::testing::SizeIs;

TEST_F(OrdersTest, ProcessingAgainThatReplacesAMissingFileResumesTheDelivery) {
  world.cloud.unknown_files = {"file-1"};
  const auto accepted = order("1", {"sku-1"});
  world.settle();
  ASSERT_EQ(world.status(*accepted.delivery), "failed preset_not_found");
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    replace_mappings(tx, world.integration,
                     {{{world.ids.make<MappingId>(), domain::MatchType::sku, "sku-1",
                        domain::MappingAction::deliver, "file-2", "preset", "File 2"},
                       "sku-1",
                       false}});
    update_integration(tx, row);
    add_account_task(tx, world.account, storage::AccountTaskKind::resume_mappings);
  });
  world.directory.forget(world.integration);
  ASSERT_TRUE(reprocess(accepted.order)) << "before the account task that the saved mappings began";
  world.settle();
  EXPECT_EQ(world.status(*accepted.delivery), "completed");
}

TEST_F(OrdersTest, TheListKnowsForWhomTheDeliveryIsAndWhetherItIsADryRun) {
  world.cloud.unknown_users = {"Nobody"};
  const auto unknown = world.accept(world.order("1", "Nobody", {"sku-1"}));
  world.settle();
  ASSERT_EQ(world.status(unknown.delivery.value()), "failed username_not_found");
  auto test = world.order("2", "Ann", {"sku-1"});
  test.test = true;
  world.accept(test);
  world.accept(world.order("3", "Ann", {"new"}));
  ASSERT_TRUE(world.await(
      world.actions.retry(world.scheduler, world.merchant(), unknown.delivery.value(), "Bob_Corrected")));
  const auto rows = list().rows;
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_FALSE(rows[0].delivery) << "nothing of it is mapped";
  EXPECT_EQ(rows[1].delivery->username, "Ann");
  EXPECT_TRUE(rows[1].delivery->dry_run);
  EXPECT_EQ(rows[2].order.summary.username, "Nobody") << "as the order says";
  EXPECT_EQ(rows[2].delivery->username, "Bob_Corrected");
  EXPECT_FALSE(rows[2].delivery->dry_run);
  const auto one = get(unknown.order).delivery;
  ASSERT_TRUE(one);
  EXPECT_EQ(one->username, "Bob_Corrected");
}

TEST_F(OrdersTest, AnOrderWithoutAMappingIsSeenMappedAndProcessedToItsEnd) {
  const auto accepted = order("1", {"new", "sku-1"});
  const auto nothing = order("2", {"new"});
  world.settle();
  EXPECT_THAT(keys({.unmapped = true}), ElementsAre("2", "1"));
  EXPECT_THAT(keys({.outcome = domain::OrderOutcome::no_mapped_items}), ElementsAre("2"));
  auto seen = get(nothing.order);
  EXPECT_EQ(seen.order.unmapped, 1);
  EXPECT_EQ(seen.lines[0].line.mapped, domain::OrderLine::Mapped::nothing);
  EXPECT_FALSE(seen.lines[0].matched_by);
  EXPECT_FALSE(seen.delivery);

  // Before there is a mapping nothing changes.
  EXPECT_EQ(reprocess(nothing.order).value().order.outcome, domain::OrderOutcome::no_mapped_items);
  map("new", "file-9");
  EXPECT_EQ(get(nothing.order).lines[0].matched_by, domain::MatchType::sku) << "what it would match now";
  ASSERT_TRUE(reprocess(nothing.order));
  ASSERT_TRUE(reprocess(accepted.order));
  world.settle();
  for (const auto id : {nothing.order, accepted.order}) {
    seen = get(id);
    EXPECT_EQ(seen.order.outcome, domain::OrderOutcome::delivery);
    EXPECT_EQ(seen.order.unmapped, 0);
    EXPECT_EQ(seen.delivery->status, domain::DeliveryStatus::completed);
    ASSERT_THAT(seen.lines[0].files, SizeIs(1));
    EXPECT_EQ(seen.lines[0].files[0].file_id, "file-9");
    EXPECT_THAT(seen.lines[0].mappings, SizeIs(1));
  }
  EXPECT_THAT(keys({.unmapped = true}), IsEmpty());
  expect_books_balance(world);
  const auto audit = world.write([&](storage::Tx& tx) { return list_audit(tx, world.account, {}).rows; });
  EXPECT_EQ(std::ranges::count(audit, "order.reprocessed", &storage::AuditRow::action), 3);
}

TEST_F(OrdersTest, AnOrderOfRefundedLinesIsMappedWhenOneOfThemIsPaid) {
  subscribe();
  const auto nothing = order("2", {"new", "unknown"});
  world.accept({.kind = OrderEvent::Kind::refund,
                .provider = domain::Provider::provider_a,
                .order_id = "2",
                .refunds = {{"r", {{"L1", 1}, {"L2", 1}}}}});
  map("new", "file-9");
  ASSERT_TRUE(reprocess(nothing.order));
  EXPECT_EQ(get(nothing.order).order.outcome, domain::OrderOutcome::stopped);
  EXPECT_EQ(get(nothing.order).order.unmapped, 1) << "the other line maps to nothing";
  auto more = later(world, "2", {"new", "unknown"}, 1);
  more.lines[0].quantity = 2;
  EXPECT_TRUE(world.accept(more).delivery) << "one of two is paid, and a person asked for the mappings";
  world.settle();
  EXPECT_TRUE(world.cloud.shares.contains({"u-ann", "file-9"}));
  EXPECT_THAT(events("order.unmapped"), SizeIs(1)) << "the other line was reported before";
}

TEST_F(OrdersTest, ADeliveryThatAKeyMakesOfAnOrderCountsOnceForIt) {
  const auto nothing = order("1", {"new"});
  map("new", "file-9");
  auto by = world.merchant();
  by.key = world.ids.make<ApiKeyId>();
  world.write([&](storage::Tx& tx) {
    insert_api_key(
        tx, {.id = *by.key, .account = world.account, .name = "k", .rate_limit = 1, .created_at = tx.now()},
        std::vector<std::byte>(32));
  });
  ASSERT_TRUE(world.await(orders.reprocess(world.scheduler, by, nothing.order)));
  const auto key = world.write([&](storage::Tx& tx) { return find_api_key(tx, *by.key).value(); });
  EXPECT_EQ(key.deliveries, 1);
}

TEST_F(OrdersTest, AGenericOrderIsProcessedAgainToo) {
  const auto accepted = world.accept(world.order("g", "Ann", {"new"}));
  EXPECT_FALSE(accepted.delivery);
  map("new", "file-9");
  ASSERT_TRUE(reprocess(accepted.order));
  world.settle();
  EXPECT_EQ(world.status(DeliveryId{accepted.order.value}), "completed");
}

TEST_F(OrdersTest, WhatIsNotDeliverableIsRefusedAndStaysAsItIs) {
  auto unpaid = later(world, "unpaid", {"sku-1"}, 0);
  unpaid.payment = domain::Payment::awaiting_payment;
  auto stopped = later(world, "stopped", {"sku-1"}, 0);
  stopped.payment = domain::Payment::cancelled;
  const OrderEvent tombstone{.kind = OrderEvent::Kind::refund,
                             .provider = domain::Provider::provider_a,
                             .order_id = "tombstone",
                             .refunds = {{"r", {{"L1", 1}}}}};
  const auto merchants = order("merchants", {"sku-1"});
  world.settle();
  ASSERT_TRUE(
      world.await(world.actions.invalidate(world.scheduler, world.merchant(), *merchants.delivery, "no")));
  set_active(false);
  const auto inactive = order("inactive", {"sku-1"});
  EXPECT_FALSE(get(inactive.order).reprocessable);
  EXPECT_EQ(reprocess(inactive.order).error().code, "INVALID_TRANSITION");
  set_active(true);
  world.directory.forget(world.integration);
  EXPECT_TRUE(get(inactive.order).reprocessable);
  for (const auto id : {world.accept(unpaid).order, world.accept(stopped).order,
                        world.accept(tombstone).order, merchants.order}) {
    const auto view = get(id);
    const auto& before = view.order;
    EXPECT_FALSE(view.reprocessable) << before.order_key;
    EXPECT_EQ(reprocess(id).error().code, "INVALID_TRANSITION") << before.order_key;
    EXPECT_EQ(get(id).order.outcome, before.outcome);
    EXPECT_EQ(get(id).order.updated_at, before.updated_at);
  }
  EXPECT_EQ(world.status(*merchants.delivery), "invalidated");
  // An order that came while the store was inactive is delivered when it is active again and somebody asks.
  ASSERT_TRUE(reprocess(inactive.order));
  world.settle();
  EXPECT_EQ(world.status(DeliveryId{inactive.order.value}), "completed");
}

TEST_F(OrdersTest, ACompletedDeliveryGoesOnWithWhatItOwesMoreAndIsChargedForThatAlone) {
  const auto accepted = order("1", {"sku-1"});
  world.settle();
  map("sku-1", "extra");
  ASSERT_TRUE(reprocess(accepted.order));
  world.settle();
  EXPECT_EQ(world.status(*accepted.delivery), "completed");
  EXPECT_EQ(world.balance().spent, 2);
  ASSERT_TRUE(reprocess(accepted.order));
  world.settle();
  EXPECT_EQ(world.balance().spent, 2);
  expect_books_balance(world);
}

TEST_F(OrdersTest, WhatTheOrderItselfStoppedComesBackAndWhatFailedTakesFilesWithoutMoving) {
  world.cloud.unknown_users = {"Ann"};
  const auto failed = order("failed", {"sku-1"});
  world.settle();
  ASSERT_EQ(world.status(*failed.delivery), "failed username_not_found");
  map("sku-1", "extra");
  ASSERT_TRUE(reprocess(failed.order));
  EXPECT_EQ(world.status(*failed.delivery), "failed username_not_found");
  EXPECT_THAT(world.items(*failed.delivery), SizeIs(2));

  world.cloud.unknown_users.clear();
  world.cloud.auto_accept = false;
  const auto emptied = order("emptied", {"sku-2"});
  world.settle();
  auto edited = later(world, "emptied", {"other"}, 1);
  world.accept(edited);
  ASSERT_EQ(world.status(*emptied.delivery), "invalidated");
  map("other", "file-8");
  ASSERT_TRUE(reprocess(emptied.order));
  world.settle();
  EXPECT_EQ(world.status(*emptied.delivery), "waiting_for_friendship");
}

TEST_F(OrdersTest, AStoreThatHoldsItsOrdersHoldsANewDeliveryOfAnOldOrder) {
  const auto accepted = order("1", {"new"});
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    row.hold_all = true;
    update_integration(tx, row);
  });
  map("new", "file-9");
  ASSERT_TRUE(reprocess(accepted.order));
  EXPECT_EQ(world.status(DeliveryId{accepted.order.value}), "in_review");
}

TEST_F(OrdersTest, MoreFilesThanAreServedAreRefusedAndNothingOfItStands) {
  const auto accepted = order("1", {"sku-1", "sku-2"});
  world.settle();
  map("sku-1", "a", 300);
  map("sku-2", "b", 300);
  const auto before = get(accepted.order);
  EXPECT_EQ(reprocess(accepted.order).error().code, "INVALID_TRANSITION");
  EXPECT_THAT(world.items(*accepted.delivery), SizeIs(2));
  EXPECT_EQ(get(accepted.order).order.updated_at, before.order.updated_at);
}

TEST_F(OrdersTest, StrangersAndKeysOfOtherStoresSeeAndProcessNothing) {
  const auto accepted = order("1", {"new"});
  auto stranger = world.merchant();
  stranger.account = world.add_tenant("m-2").account;
  auto limited = world.merchant();
  limited.integrations = identity::IntegrationScope({world.ids.make<IntegrationId>()});
  for (const auto& by : {stranger, limited}) {
    EXPECT_THAT(world.await(orders.list(world.scheduler, by, {})).value().rows, IsEmpty());
    EXPECT_THAT(world.await(orders.list(world.scheduler, by, {.search = "1"})).value().rows, IsEmpty());
    EXPECT_EQ(world.await(orders.get(world.scheduler, by, accepted.order)).error().code, "NOT_FOUND");
    EXPECT_EQ(world.await(orders.payload(world.scheduler, by, accepted.order)).error().code, "NOT_FOUND");
    EXPECT_EQ(world.await(orders.reprocess(world.scheduler, by, accepted.order)).error().code, "NOT_FOUND");
  }
}

TEST_F(OrdersTest, AListIsSearchedByWhatPeopleKnow) {
  for (int i = 1; i <= 5; ++i) {
    auto event = later(world, "key-" + std::to_string(i), {"sku-1"}, 0);
    event.order_number = "#100" + std::to_string(i);
    event.username = event.raw_username = i == 3 ? "Zoe" : "Ann";
    event.email = i == 4 ? "Zoe@Example.com" : "ann@example.com";
    world.accept(event);
    world.settle(Millis{1'000});
  }
  EXPECT_THAT(keys({.search = "#1002"}), ElementsAre("key-2"));
  EXPECT_THAT(keys({.search = "1002"}), ElementsAre("key-2"));
  EXPECT_THAT(keys({.search = "100"}), SizeIs(5));
  EXPECT_THAT(keys({.search = "key-5"}), ElementsAre("key-5"));
  EXPECT_THAT(keys({.search = "key"}), IsEmpty());
  EXPECT_THAT(keys({.search = "zo"}), ElementsAre("key-3"));
  EXPECT_THAT(keys({.search = "@ZOE"}), ElementsAre("key-3"));
  EXPECT_THAT(keys({.search = "zoe@"}), ElementsAre("key-4"));
  const auto first = list({.search = "key-1"}).rows.at(0).order;
  EXPECT_THAT(keys({.search = to_string(first.id)}), ElementsAre("key-1"));
  EXPECT_THAT(keys({.search = to_string(DeliveryId{first.id.value})}), ElementsAre("key-1"));
  EXPECT_THAT(keys({.outcome = domain::OrderOutcome::delivery, .search = "1003"}), ElementsAre("key-3"));
  EXPECT_THAT(keys({.outcome = domain::OrderOutcome::stopped, .search = "1003"}), IsEmpty());
  EXPECT_THAT(keys({.received_before = first.received_at + Millis{1}}), ElementsAre("key-1"));
  EXPECT_THAT(keys({.received_from = first.received_at + Millis{1}}), SizeIs(4));

  std::vector<std::string> paged;
  OrderQuery query{.page = {.limit = 2}};
  for (std::optional<std::int64_t> next = query.page.before; next;) {
    query.page.before = *next;
    const auto page = list(query);
    for (const auto& row : page.rows) paged.push_back(row.order.order_key);
    next = page.next;
  }
  EXPECT_THAT(paged, ElementsAre("key-5", "key-4", "key-3", "key-2", "key-1"));
}

TEST_F(OrdersTest, WhatAProgramOfBeforeWroteIsShownAndLaterFound) {
  auto event = later(world, "old", {"sku-1", "new"}, 0);
  event.order_number = "#77";
  const auto accepted = world.accept(event);
  const auto fresh = get(accepted.order).order.summary;
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE orders SET order_number = NULL, username = '', email = '', line_count = 0, marks = 0,"
             " number_key = '', listed_at = 0 WHERE id = $1"},
            accepted.order);
  });
  EXPECT_EQ(list().rows.at(0).order.summary, fresh);
  EXPECT_THAT(keys({.search = "77"}), IsEmpty());
  Housekeeping housekeeping(world.scheduler, world.async_db, world.log, {});
  housekeeping.start();
  world.settle();
  EXPECT_THAT(keys({.search = "77"}), ElementsAre("old"));
  EXPECT_EQ(list().rows.at(0).order.summary, fresh);
  bool stopped = false;
  housekeeping.stop([&] { stopped = true; });
  world.settle();
  EXPECT_TRUE(stopped);
}

TEST_F(OrdersTest, WhatIsErasedIsNotFoundByItsBuyerAnyMore) {
  const auto accepted = order("1", {"sku-1"});
  world.settle();
  EXPECT_THAT(keys({.search = "buyer@example.com"}), ElementsAre("1"));
  world.write([&](storage::Tx& tx) {
    erase_orders(tx, world.changes, std::array{storage::OrderKey{world.integration, "1"}});
  });
  EXPECT_THAT(keys({.search = "buyer@example.com"}), IsEmpty());
  EXPECT_THAT(keys({.search = "@ann"}), IsEmpty());
  const auto shown = list().rows.at(0).order.summary;
  EXPECT_EQ(shown.username + shown.email, "");
  EXPECT_TRUE(shown.marks.has(domain::OrderMark::erased));
  EXPECT_FALSE(get(accepted.order).reprocessable);
  EXPECT_EQ(reprocess(accepted.order).error().code, "INVALID_TRANSITION");
}

// ---------------------------------------------------------------- order.unmapped

TEST_F(OrdersTest, AnOrderThatDeliversLessThanItSoldIsReportedOnceAStateOfIt) {
  subscribe();
  const auto nothing = order("1", {"new"});
  ASSERT_THAT(events("order.unmapped"), SizeIs(1));
  auto body = events("order.unmapped")[0];
  EXPECT_TRUE(body.at("deliveryId").is_null());
  EXPECT_EQ(body.at("order").at("orderId").as_string(), "1");
  EXPECT_EQ(body.at("order").at("unmappedCount").as_int64(), 1);
  EXPECT_EQ(body.at("order").at("unmappedLines").at(0).at("sku").as_string(), "new");
  EXPECT_FALSE(boost::json::serialize(body).contains("buyer@example.com"));

  order("1", {"new"});
  auto renamed = later(world, "1", {"new"}, 1);
  renamed.email = "other@example.com";
  world.accept(renamed);
  ASSERT_TRUE(reprocess(nothing.order));
  EXPECT_THAT(events("order.unmapped"), SizeIs(1)) << "nothing more is without a mapping";

  order("1", {"new", "newer"}, 2);
  EXPECT_THAT(events("order.unmapped"), SizeIs(2));
  const auto partly = order("2", {"sku-1", "new"});
  ASSERT_THAT(events("order.unmapped"), SizeIs(3));
  body = events("order.unmapped")[2];
  EXPECT_EQ(body.at("deliveryId").as_string(), to_string(*partly.delivery));
  EXPECT_EQ(body.at("order").at("lineCount").as_int64(), 2);
  order("3", {"sku-1"});
  EXPECT_THAT(events("order.unmapped"), SizeIs(3));
  EXPECT_THAT(events("delivery.queued"), SizeIs(2));
}

TEST_F(OrdersTest, AnUnmappedLineOfAnOrderWhoseMappedLinesAreRefundedIsReportedAndServedLater) {
  subscribe();
  auto event = later(world, "1", {"sku-1", "new"}, 0);
  event.lines[0].current_quantity = 0;
  const auto accepted = world.accept(event);
  EXPECT_FALSE(accepted.delivery);
  EXPECT_THAT(events("order.unmapped"), SizeIs(1));
  EXPECT_EQ(get(accepted.order).order.outcome, domain::OrderOutcome::no_mapped_items);
  EXPECT_THAT(keys({.unmapped = true}), ElementsAre("1"));
  // The mapped line is paid again: it is delivered without a click.
  const auto again = world.accept(later(world, "1", {"sku-1", "new"}, 1));
  world.settle();
  ASSERT_TRUE(again.delivery);
  EXPECT_EQ(world.status(*again.delivery), "completed");
}

TEST_F(OrdersTest, UnmappedOrdersAreNotReportedToSubscribersOfDeliveriesAlone) {
  subscribe("delivery.queued");
  order("1", {"new"});
  EXPECT_THAT(events("order.unmapped"), IsEmpty());
}

}  // namespace
}  // namespace presetbridge::services
