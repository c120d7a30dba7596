// Direct deliveries (spec 3.8): the orders of a generic integration that somebody places without its webhook,
// of products or of files themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/orders/orders.h"
#include "services/testing.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::expect_books_balance;
using ::testing::SizeIs;
using testing::World;

class DirectDeliveries : public ::testing::Test {
 protected:
  DirectDeliveries() {
    key = world.ids.make<ApiKeyId>();
    world.write([&](storage::Tx& tx) {
      tx.exec(
          {"INSERT INTO api_keys (id, account_id, name, preview, hash, active, permissions, integration_ids,"
           " rate_limit, rate_log, created_at) VALUES ($1, $2, 'My program', 'p', $3, 1, '', '', 100, $3, "
           "0)"},
          key, world.account, std::vector<std::byte>(8));
    });
  }
  domain::OrderEvent order(const std::string& id, std::vector<std::string> files,
                           std::vector<std::string> skus = {}) {
    auto event = world.order(id, "Ann", std::move(skus));
    for (const auto& file : files)
      event.lines.push_back({.line_id = {}, .title = "My " + file, .file_id = file});
    return event;
  }
  Accepted ask(domain::OrderEvent event) {
    event.received_at = world.database.clock.now();
    auto snapshot = world.await(world.directory.find(world.scheduler, world.integration, Millis{0})).value();
    return world
        .await(world.intake.accept(world.scheduler, {.integration = snapshot,
                                                     .event = std::move(event),
                                                     .payload = {},
                                                     .key = key,
                                                     .asked_by = domain::Actor::api_key(key)}))
        .value();
  }
  DeliveryId deliver(domain::OrderEvent event) {
    const auto accepted = ask(std::move(event));
    world.settle();
    return accepted.delivery.value();
  }
  std::vector<std::string> files_of(DeliveryId id) {
    std::vector<std::string> all;
    for (const auto& item : world.items(id))
      all.push_back(item.file_id + " " + item.matched_by + " " + item.name + " " +
                    std::string(to_string(item.status)));
    return all;
  }

  World world;
  ApiKeyId key;
};

TEST_F(DirectDeliveries, GiveTheFilesThatTheyNameBesideThoseOfProducts) {
  const auto id = deliver(order("1", {"file-77", "file-1"}, {"sku-1"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_THAT(files_of(id), ::testing::UnorderedElementsAre("file-77 file_id My file-77 shared",
                                                            "file-1 sku File 1 shared"));
  EXPECT_EQ(world.balance().spent, 2) << "a file that a product and a line of its own owe is owed once";
  expect_books_balance(world);
}

TEST_F(DirectDeliveries, SayWhoAskedAndCountForTheKey) {
  const auto id = deliver(order("1", {"file-77"}));
  const auto again = ask(order("1", {"file-1", "file-2"}));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.delivery, id);
  EXPECT_THAT(world.items(id), SizeIs(1)) << "whatever the repeat says";
  world.write([&](storage::Tx& tx) {
    int asked = 0;
    for (const auto& entry : find_timeline(tx, id, 100)) asked += entry.actor == to_string(key) ? 1 : 0;
    EXPECT_EQ(asked, 1);
    const auto audit = list_audit(tx, world.account, {}).rows;
    EXPECT_EQ(std::ranges::count(audit, "delivery.asked_for", &storage::AuditRow::action), 1);
    const auto used = find_api_key(tx, world.account, key).value();
    EXPECT_EQ(used.requests, 0) << "the request was counted with its limit";
    EXPECT_EQ(used.deliveries, 1);
    for (const auto* const search : {"ann", "1", "buyer@"})
      EXPECT_EQ(count_deliveries(tx, {.account = world.account, .search = search}).count, 1) << search;
    EXPECT_EQ(count_deliveries(tx, {.account = world.account, .file_id = "file-77"}).count, 1);
  });
}

TEST_F(DirectDeliveries, OfAFileThatTheMerchantHasNotFailAndCostNothing) {
  world.cloud.unknown_files = {"file-77"};
  const auto id = deliver(order("1", {"file-77"}));
  EXPECT_EQ(world.status(id), "failed preset_not_found");
  EXPECT_EQ(world.balance().spent, 0);
  EXPECT_EQ(world.balance().held, 0);
  // No mapping stands for what the order names itself.
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    update_integration(tx, row);
    add_account_task(tx, world.account, storage::AccountTaskKind::resume_mappings);
  });
  world.worker->wake();
  world.settle();
  EXPECT_EQ(world.status(id), "failed preset_not_found");
  world.cloud.unknown_files.clear();
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, {})));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST_F(DirectDeliveries, KeepTheirFilesWhenTheMappingsChange) {
  world.cloud.auto_accept = false;
  const auto id = deliver(order("1", {"file-77"}, {"sku-1"}));
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    replace_mappings(tx, world.integration, {});
    update_integration(tx, row);
  });
  world.directory.forget(world.integration);
  Orders orders(world.async_db, world.changes, world.directory, [] {});
  ASSERT_TRUE(world.await(orders.reprocess(world.scheduler, world.merchant(), OrderId{id.value})));
  EXPECT_THAT(files_of(id), ::testing::UnorderedElementsAre("file-77 file_id My file-77 owed",
                                                            "file-1 sku File 1 dropped"));
  const auto view = world.await(orders.get(world.scheduler, world.merchant(), OrderId{id.value})).value();
  EXPECT_EQ(view.order.unmapped, 1) << "the product";
}

TEST_F(DirectDeliveries, AreHeldWhereTheStoreHoldsItsOrders) {
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    row.hold_all = true;
    update_integration(tx, row);
  });
  const auto id = deliver(order("1", {"file-77"}));
  EXPECT_EQ(world.status(id), "in_review");
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

}  // namespace
}  // namespace presetbridge::services
