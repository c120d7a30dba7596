// Orders as a merchant sees them, and processing them again (spec 9.3), one and many.
#include "services/orders/orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "services/bulk/bulk_reprocess.h"
#include "services/operation/housekeeping.h"
#include "services/stores/privacy_inbox.h"
#include "services/testing.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {
namespace {

using domain::OrderEvent;
using ::testing::ElementsAre;
using testing::expect_books_balance;
using ::testing::IsEmpty;
using testing::later;
using ::testing::SizeIs;
using testing::World;

class OrdersTest : public ::testing::Test {
 protected:
  void map(const std::string& sku, const std::string& file, int files = 1) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      auto mappings = find_mappings(tx, world.integration);
      for (int i = 0; i < files; ++i) {
        const auto name = files == 1 ? file : file + "-" + std::to_string(i);
        mappings.push_back({{world.ids.make<MappingId>(), domain::MatchType::sku, sku,
                             domain::MappingAction::deliver, name, "preset", "File " + name},
                            sku,
                            false});
      }
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
    });
    world.directory.forget(world.integration);
  }
  void set_active(bool active) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      row.active = active;
      update_integration(tx, row);
    });
  }
  storage::Page<OrderInList> list(OrderQuery query = {}) {
    return world.await(orders.list(world.scheduler, world.merchant(), std::move(query))).value();
  }
  std::vector<std::string> keys(OrderQuery query) {
    std::vector<std::string> found;
    for (const auto& row : list(std::move(query)).rows) found.push_back(row.order.order_key);
    return found;
  }
  OrderView get(OrderId id) { return world.await(orders.get(world.scheduler, world.merchant(), id)).value(); }
  Expected<OrderView> reprocess(OrderId id) {
    return world.await(orders.reprocess(world.scheduler, world.merchant(), id));
  }
  Accepted order(const std::string& id, std::vector<std::string> skus, int minute = 0) {
    return world.accept(later(world, id, std::move(skus), minute));
  }
  // Listens to everything.
  void subscribe(std::string types = "") {
    world.write([&](storage::Tx& tx) {
      tx.exec({"INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types,"
               " integration_ids, created_at) VALUES ($1, $2, 'https://x.example', $3, $4, '', 0)"},
              world.ids.next(), world.account, std::vector<std::byte>(8), types);
    });
  }
  std::vector<boost::json::object> events(const std::string& type) {
    std::vector<boost::json::object> bodies;
    world.write([&](storage::Tx& tx) {
      bodies.clear();
      tx.query(
          {"SELECT body FROM outbound_events WHERE type = $1 ORDER BY id"}, type, [&](const storage::Row& r) {
            const auto body = r.bytes(0);
            bodies.push_back(boost::json::parse(boost::json::string_view(
                                                    reinterpret_cast<const char*>(body.data()), body.size()))
                                 .as_object());
          });
    });
    return bodies;
  }

  World world;
  Orders orders{world.async_db, world.changes, world.directory, [this] { world.worker->wake(); }};
};

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
  EXPECT_EQ(reprocess(inactive.order).error().code, "INVALID_TRANSITION");
  set_active(true);
  for (const auto id : {world.accept(unpaid).order, world.accept(stopped).order,
                        world.accept(tombstone).order, merchants.order}) {
    const auto before = get(id).order;
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

// ---------------------------------------------------------------- many

class ReprocessMany : public OrdersTest {
 protected:
  using Worker = std::unique_ptr<BulkWorker>;
  Worker start() {
    auto worker =
        std::make_unique<BulkWorker>(world.scheduler, world.async_db, world.log,
                                     std::vector<BulkAction*>{&bulk}, [this] { world.worker->wake(); });
    worker->start();
    return worker;
  }
  void stop(Worker& worker) {
    bool stopped = false;
    worker->stop([&] { stopped = true; });
    world.settle();
    EXPECT_TRUE(stopped);
    worker.reset();
  }
  ReprocessPlan ask(OrderQuery query, bool dry_run = false) {
    return world.await(bulk.ask(world.scheduler, world.merchant(), std::move(query), dry_run)).value();
  }
  storage::BulkJobRow job(BulkJobId id) {
    return world.await(jobs.get(world.scheduler, world.merchant(), id)).value();
  }
  // The same while the loops stand still.
  storage::BulkJobRow row(BulkJobId id) {
    return world.write([&](storage::Tx& tx) { return find_bulk_job(tx, id).value(); });
  }
  void run_until(BulkJobId id, std::int64_t done) {
    for (int i = 0; row(id).done < done; ++i) {
      ASSERT_LT(i, 10'000);
      // A worker that met another at the job polls again a while later.
      if (!world.scheduler.run_one()) world.database.clock.set(world.database.clock.now() + Millis{1'000});
    }
    ASSERT_FALSE(row(id).finished_at);
  }
  std::int64_t count(const char* what) {
    return world.write([&](storage::Tx& tx) {
      return tx.one({what}, [](const storage::Row& r) { return r.int64(0); }).value();
    });
  }

  BulkJobs jobs{world.async_db, world.ids, [] {}};
  BulkReprocess bulk{world.async_db, world.changes, world.directory, jobs};
};

TEST_F(ReprocessMany, EachOnceWhateverIsKilledAndHoweverManyWork) {
  constexpr int kOrders = 130;
  for (int i = 0; i < kOrders; ++i) order("u" + std::to_string(i), {"new"});
  order("whole", {"sku-1"});
  auto stopped = later(world, "stopped", {"new"}, 1);
  order("stopped", {"new"});
  stopped.payment = domain::Payment::cancelled;
  world.accept(stopped);
  world.settle();
  map("new", "file-9");
  const auto planned = ask({.unmapped = true}, true);
  EXPECT_EQ(planned.count.orders, kOrders + 1);
  EXPECT_TRUE(planned.count.exact);
  EXPECT_FALSE(planned.job.id);
  const auto asked = ask({.unmapped = true}).job;
  world.write([&](storage::Tx& tx) { tx.exec({"DELETE FROM delivery_timeline"}); });
  world.settle(Millis{5});
  order("after", {"sku-1", "newer"});

  // Three at once, of which one after the other dies in the middle.
  std::vector<Worker> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start());
  run_until(asked.id, 20);
  workers[0]->stop([] {});
  run_until(asked.id, 70);
  workers[1]->stop([] {});
  world.settle(std::chrono::minutes{1});
  const auto ended = job(asked.id);
  ASSERT_TRUE(ended.finished_at);
  EXPECT_EQ(ended.done, kOrders);
  EXPECT_EQ(ended.failed, 1);
  EXPECT_EQ(ended.filter, "{}");
  const auto failures = boost::json::parse(ended.failures).as_array();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].at("code").as_string(), "INVALID_TRANSITION");
  EXPECT_EQ(count("SELECT count(*) FROM deliveries"), kOrders + 2);
  EXPECT_EQ(count("SELECT count(*) FROM delivery_timeline WHERE message = 'The order was processed again "
                  "with the mappings of now.'"),
            kOrders);
  EXPECT_EQ(get(order("after", {"sku-1", "newer"}).order).order.unmapped, 1);
  stop(workers[2]);
  expect_books_balance(world);
}

TEST_F(ReprocessMany, AJobGoesOnWhereTheProcessDied) {
  for (int i = 0; i < 120; ++i) order("u" + std::to_string(i), {"new"});
  map("new", "file-9");
  const auto asked = ask({.unmapped = true}).job;
  auto worker = start();
  run_until(asked.id, 30);
  stop(worker);
  EXPECT_FALSE(row(asked.id).finished_at);
  EXPECT_LT(row(asked.id).done, 120);
  worker = start();
  world.settle(std::chrono::minutes{1});
  EXPECT_EQ(job(asked.id).done, 120);
  EXPECT_TRUE(job(asked.id).finished_at);
  EXPECT_EQ(count("SELECT count(*) FROM deliveries"), 120);
  stop(worker);
}

TEST_F(ReprocessMany, OneOfThemThatCannotBeReadHoldsUpNoOther) {
  std::vector<OrderId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(order("u" + std::to_string(i), {"new"}).order);
  map("new", "file-9");
  world.write([&](storage::Tx& tx) { tx.exec({"UPDATE orders SET state = '?' WHERE id = $1"}, ids[1]); });
  const auto asked = ask({.unmapped = true}).job;
  auto worker = start();
  world.settle();
  EXPECT_EQ(job(asked.id).done, 2);
  EXPECT_EQ(job(asked.id).failed, 1);
  EXPECT_TRUE(job(asked.id).finished_at);
  stop(worker);
}

TEST_F(ReprocessMany, OfAFilterThoseAloneThatFitAndThatWhoAskedSees) {
  const auto other = world.add_tenant("m-1");
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE integrations SET account_id = $1 WHERE id = $2"}, world.account, other.integration);
  });
  order("mine", {"new"});
  auto event = later(world, "other", {"new"}, 0);
  event.order_number = "#5";
  world.accept(other.integration, event);
  EXPECT_EQ(ask({}, true).count.orders, 2);
  EXPECT_EQ(ask({.integration = other.integration}, true).count.orders, 1);
  EXPECT_EQ(ask({.search = "#5"}, true).count.orders, 1);
  EXPECT_EQ(ask({.outcome = domain::OrderOutcome::stopped}, true).count.orders, 0);
  auto limited = world.merchant();
  limited.integrations = identity::IntegrationScope({world.integration});
  const auto plan = world.await(bulk.ask(world.scheduler, limited, {}, false)).value();
  EXPECT_EQ(plan.count.orders, 1);
  map("new", "file-9");
  auto worker = start();
  world.settle();
  EXPECT_EQ(job(plan.job.id).done, 1);
  EXPECT_THAT(keys({.outcome = domain::OrderOutcome::delivery}), ElementsAre("mine"));
  stop(worker);

  const auto whole = ask({}).job;
  EXPECT_EQ(world.await(jobs.get(world.scheduler, limited, whole.id)).error().code, "NOT_FOUND");
  EXPECT_TRUE(world.await(jobs.get(world.scheduler, limited, plan.job.id)));
  auto stranger = world.merchant();
  stranger.account = other.account;
  EXPECT_EQ(world.await(jobs.get(world.scheduler, stranger, whole.id)).error().code, "NOT_FOUND");
}

TEST_F(ReprocessMany, AnAccountHasFiveUnderWay) {
  for (int i = 0; i < kMostBulkJobs; ++i) ask({});
  const auto more = world.await(bulk.ask(world.scheduler, world.merchant(), {}, false));
  EXPECT_EQ(more.error().code, "LIMIT_REACHED");
}

// ---------------------------------------------------------------- privacy requests

TEST_F(OrdersTest, AMerchantSeesWhichOrdersADataRequestNames) {
  const auto delivery = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto unmapped = world.accept(world.order("2", "Ann", {"unknown"}));
  ASSERT_FALSE(unmapped.delivery);
  world.accept({.kind = OrderEvent::Kind::data_request,
                .provider = domain::Provider::provider_a,
                .email = "ann@example.com",
                .order_ids = {"3", "1", "2", "1"}});
  PrivacyInbox inbox(world.async_db, world.ids);
  const auto me = world.merchant();
  const auto id = world.await(inbox.list(world.scheduler, me, true, {})).value().rows.at(0).id;
  const auto page = [&](const identity::Principal& by, storage::PageRequest request) {
    return world.await(inbox.orders(world.scheduler, by, id, request));
  };
  const auto first = page(me, {.limit = 2}).value();
  ASSERT_THAT(first.rows, SizeIs(2));
  EXPECT_EQ(first.rows[0].order_key, "1");
  EXPECT_EQ(first.rows[0].order.value, delivery.value);
  EXPECT_TRUE(first.rows[0].delivered);
  EXPECT_EQ(first.rows[1].order_key, "2");
  EXPECT_TRUE(first.rows[1].order);
  EXPECT_FALSE(first.rows[1].delivered) << "it delivers nothing";
  ASSERT_TRUE(first.next);
  const auto rest = page(me, {.limit = 2, .before = *first.next}).value();
  ASSERT_THAT(rest.rows, SizeIs(1));
  EXPECT_EQ(rest.rows[0].order_key, "3");
  EXPECT_FALSE(rest.rows[0].order) << "it never came";
  EXPECT_FALSE(rest.next);
  auto stranger = me;
  stranger.account = world.add_tenant("m-2").account;
  auto limited = me;
  limited.integrations = identity::IntegrationScope({world.ids.make<IntegrationId>()});
  for (const auto& by : {stranger, limited}) EXPECT_EQ(page(by, {}).error().code, "NOT_FOUND");
}

TEST_F(OrdersTest, AMerchantSeesAndClosesPrivacyRequests) {
  const OrderEvent asked{.kind = OrderEvent::Kind::data_request,
                         .provider = domain::Provider::provider_a,
                         .email = "buyer@example.com",
                         .order_ids = {"1"}};
  world.accept(asked);
  PrivacyInbox inbox(world.async_db, world.ids);
  const auto list_open = [&](const identity::Principal& by, bool open) {
    return world.await(inbox.list(world.scheduler, by, open, {})).value().rows;
  };
  const auto me = world.merchant();
  ASSERT_THAT(list_open(me, true), SizeIs(1));
  const auto id = list_open(me, true)[0].id;
  auto stranger = me;
  stranger.account = world.add_tenant("m-2").account;
  auto limited = me;
  limited.integrations = identity::IntegrationScope({world.ids.make<IntegrationId>()});
  for (const auto& by : {stranger, limited}) {
    EXPECT_THAT(list_open(by, false), IsEmpty());
    EXPECT_EQ(world.await(inbox.close(world.scheduler, by, id)).error().code, "NOT_FOUND");
  }
  EXPECT_TRUE(world.await(inbox.close(world.scheduler, me, id)).value().closed_at);
  EXPECT_EQ(world.await(inbox.close(world.scheduler, me, id)).error().code, "CONFLICT");
  EXPECT_THAT(list_open(me, true), IsEmpty());
  EXPECT_THAT(list_open(me, false), SizeIs(1));
  const auto audit = world.write([&](storage::Tx& tx) { return list_audit(tx, world.account, {}).rows; });
  EXPECT_EQ(std::ranges::count(audit, "privacy_request.closed", &storage::AuditRow::action), 1);
}

}  // namespace
}  // namespace presetbridge::services
