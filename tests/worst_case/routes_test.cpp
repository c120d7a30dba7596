// The API's routes, with bodies and pages as large as they may be and rows as large as there may be.
#include "api/handlers/credentials_handlers.h"
#include "api/handlers/overview_handlers.h"
#include "api/handlers/statistics_handlers.h"
#include "crypto/vault_keys.h"
#include "services/vault/vault.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/subscription_store.h"
#include "storage/stores/timeline_store.h"
#include "worst_case_testing.h"

namespace presetbridge::worst_case {
namespace {

constexpr int kPage = 100;  // the largest page of a list
constexpr int kDeliveryScanLimit = storage::kDeliveryScanLimit;
constexpr int kTimeline = 200;

class Routes : public WorstCase {
 protected:
  // A delivery as large as there may be.
  DeliveryId largest() {
    EXPECT_EQ(map(kFiles / kOfKey, kOfKey).status, 200);
    const auto answer = hook("orders/create", order("1", kFiles / kOfKey));
    return parse_id<DeliveryKind>(answer.at("deliveryId").as_string()).value();
  }
};

TEST_F(Routes, ASaveOfMappings) {
  int status = 0;
  const auto work = measure([&] { status = map(kMappings / kOfKey, kOfKey).status; });
  ASSERT_EQ(status, 200);
  // Once more over as many: they are replaced.
  const auto again = measure([&] { status = map(kMappings / kOfKey, kOfKey).status; });
  ASSERT_EQ(status, 200);
  const Bound bound{.rows_written = 2 * kMappings + 60,
                    .largest_transaction = storage::kMappingBatch + 10,
                    .statements = 100,
                    .rows_read = kMappings + 100,
                    .bytes_written = 3 * static_cast<std::int64_t>(kBody),
                    .bytes_read = 3 * static_cast<std::int64_t>(kBody),
                    .allocations = 60 * kMappings,
                    .branches = 30'000'000};
  expect("PUT …/mappings: 5,000 new", work, bound);
  expect("PUT …/mappings: 5,000 over 5,000", again, bound);
}

TEST_F(Routes, AListOfMappings) {
  ASSERT_EQ(map(kMappings / kOfKey, kOfKey).status, 200);
  const auto work = measure([&] { EXPECT_EQ(send("GET", store_ + "/mappings").status, 200); });
  expect("GET …/mappings: 5,000", work,
         {.statements = 2,
          .rows_read = kMappings + 1,
          .bytes_read = 2 * static_cast<std::int64_t>(kBody),
          .allocations = 30 * kMappings,
          .branches = 100 * kMappings});
}

TEST_F(Routes, AListOfSubscriptions) {
  for (int i = 1; i < kPage; ++i) {
    const json::object wanted{{"url", longest("https://receiver.example.com/", i, 2'000)}};
    ASSERT_EQ(send("POST", "/api/webhook-subscriptions", wanted).status, 201);
  }
  const auto work =
      measure([&] { EXPECT_EQ(send("GET", "/api/webhook-subscriptions?limit=100").status, 200); });
  expect("GET /api/webhook-subscriptions: 100", work,
         {.statements = 2 * kPage + 2,
          .rows_read = 3 * kPage,
          .bytes_read = kPage * 3'000,
          .allocations = kPage * 120,
          .branches = 40 * kPage});
}

TEST_F(Routes, ADeletionOfASubscriptionThatNothingReaches) {
  const auto made =
      send("POST", "/api/webhook-subscriptions", json::object{{"url", "https://receiver.example.com/"}});
  ASSERT_EQ(made.status, 201);
  const std::string id(json::parse(made.body).as_object().at("id").as_string());
  world_.write([&](storage::Tx& tx) {
    std::vector<storage::DispatchRow> dispatches;
    for (int i = 0; i < 20 * storage::kDispatchBatch; ++i) {
      dispatches.push_back({.id = world_.ids.next(),
                            .subscription = *parse_id<SubscriptionKind>(id),
                            .event = EventId{1},
                            .due_at = tx.now()});
    }
    insert_dispatches(tx, dispatches);
  });
  const auto work =
      measure([&] { EXPECT_EQ(send("DELETE", "/api/webhook-subscriptions/" + id).status, 204); });
  expect("DELETE /api/webhook-subscriptions/{subscription}: 10,000 sends wait", work,
         {.rows_written = storage::kDispatchBatch + 10,
          .largest_transaction = storage::kDispatchBatch + 10,
          .statements = 10,
          .rows_read = 10,
          .bytes_written = 1'000,
          .bytes_read = 4'000,
          .allocations = 1'000,
          .branches = 100'000});
}

TEST_F(Routes, AListOfStores) {
  for (int i = 0; i < kPage; ++i) world_.add_tenant("m-1");
  world_.write(
      [&](storage::Tx& tx) { tx.exec({"UPDATE integrations SET account_id = $1"}, world_.account); });
  const auto work = measure([&] { EXPECT_EQ(send("GET", "/api/integrations?limit=100").status, 200); });
  expect("GET /api/integrations: 100", work,
         {.statements = 8,
          .rows_read = 4 * (kPage + 1),
          .bytes_read = kPage * 3'000,
          .allocations = kPage * 150,
          .branches = 20'000});
}

TEST_F(Routes, AListOfDeliveriesOfLargeOrders) {
  const auto id = largest();
  // A hundred such: copies of the rows.
  world_.write([&](storage::Tx& tx) {
    const auto order = find_order(tx, OrderId{id.value}).value();
    const auto row = find_delivery(tx, id).value();
    for (int i = 0; i < kPage; ++i) {
      auto another = order;
      another.id = world_.ids.make<OrderId>();
      another.order_key = longest("o", i, kIdBytes);
      insert_orders(tx, std::array{another});
      auto delivery = row;
      delivery.id = DeliveryId{another.id.value};
      delivery.order_key = another.order_key;
      insert_deliveries(tx, std::span(&delivery, 1));
    }
  });
  const auto work = measure([&] { EXPECT_EQ(send("GET", "/api/deliveries?limit=100").status, 200); });
  expect("GET /api/deliveries: 100 of orders of 1 MiB", work,
         {.statements = 10,
          .rows_read = 8 * kPage,
          .bytes_read = kPage * 2'000,
          .allocations = kPage * 200,
          .branches = kPage * 500});
}

TEST_F(Routes, AListOfLargeOrders) {
  const auto id = largest();
  world_.write([&](storage::Tx& tx) {
    auto order = find_order(tx, OrderId{id.value}).value();
    for (int i = 0; i < kPage; ++i) {
      order.id = world_.ids.make<OrderId>();
      order.order_key = longest("o", i, kIdBytes);
      insert_orders(tx, std::array{order});
    }
  });
  const auto work = measure([&] { EXPECT_EQ(send("GET", "/api/orders?limit=100").status, 200); });
  expect("GET /api/orders: 100 of 1 MiB", work,
         {.statements = 3,
          .rows_read = 2 * kPage + 2,
          .bytes_read = kPage * 1'000,
          .allocations = kPage * 100,
          .branches = kPage * 1'000});
}

TEST_F(Routes, AListOfOrdersThatFindsNothing) {
  world_.write([&](storage::Tx& tx) {
    std::vector<storage::OrderRow> rows;
    for (int i = 0; i < kDeliveryScanLimit + 1'000; ++i) {
      const auto id = world_.ids.next();
      rows.push_back({.id = OrderId{id},
                      .account = world_.account,
                      .integration = world_.integration,
                      .order_key = std::to_string(id),
                      .outcome = domain::OrderOutcome::no_mapped_items,
                      .state = "{}",
                      .unmapped = 1});
    }
    insert_orders(tx, rows);
  });
  const auto work =
      measure([&] { EXPECT_EQ(send("GET", "/api/orders?limit=100&unmapped=true&q=@nobody").status, 200); });
  expect("GET /api/orders: of a buyer whom none has", work,
         {.statements = 12,
          .rows_read = kDeliveryScanLimit + 200,
          .bytes_read = kDeliveryScanLimit * 300,
          .allocations = kDeliveryScanLimit * 30,
          .branches = kDeliveryScanLimit * 200});
}

TEST_F(Routes, AnOrder) {
  const auto id = largest();
  const auto work =
      measure([&] { EXPECT_EQ(send("GET", "/api/orders/" + to_string(OrderId{id.value})).status, 200); });
  expect("GET /api/orders/{order}: 250 lines, 500 files", work,
         {.statements = 8,
          .rows_read = 2 * kFiles + 10,
          .bytes_read =
              std::int64_t{kLines} * kOfKey * (kLineIdBytes + 3) + 2 * static_cast<std::int64_t>(kBody),
          .allocations = 60 * kLines * kOfKey,
          .branches = 10'000'000});
}

TEST_F(Routes, AnOrderThatIsProcessedAgain) {
  const auto id = largest();
  const auto work = measure([&] {
    EXPECT_EQ(send("POST", "/api/orders/" + to_string(OrderId{id.value}) + "/reprocess").status, 200);
  });
  expect("POST /api/orders/{order}/reprocess: 500 files", work,
         {.rows_written = kFiles + 20,
          .largest_transaction = kFiles + 20,
          .statements = 30,
          .rows_read = 4 * kFiles + 50,
          .bytes_written = 2 * static_cast<std::int64_t>(kBody),
          .bytes_read =
              3 * std::int64_t{kLines} * kOfKey * (kLineIdBytes + 3) + 4 * static_cast<std::int64_t>(kBody),
          .allocations = 150 * kLines * kOfKey,
          .branches = 50'000'000});
}

TEST_F(Routes, AListThatFindsNothing) {
  world_.write([&](storage::Tx& tx) {
    for (int i = 0; i < kDeliveryScanLimit + 1'000; ++i) {
      const auto id = world_.ids.next();
      storage::DeliveryRow row{
          .id = DeliveryId{id}, .account = world_.account, .integration = world_.integration};
      row.order_key = std::to_string(id);
      insert_deliveries(tx, std::span(&row, 1));
    }
  });
  const auto work = measure([&] {
    EXPECT_EQ(send("GET", "/api/deliveries?limit=100&count=true&updatedFrom=2100-01-01T00:00:00Z").status,
              200);
  });
  expect("GET /api/deliveries: by a time of change that none has, counted", work,
         {.statements = 24,
          .rows_read = 2 * kDeliveryScanLimit + 2'200,
          .bytes_read = 2 * kDeliveryScanLimit * 200,
          .allocations = 2 * kDeliveryScanLimit * 20,
          .branches = 2 * kDeliveryScanLimit * 200});
}

TEST_F(Routes, TheBuyersOfAsManyDeliveriesAsAreRead) {
  constexpr auto kRead = services::Vault::friends_of_deliveries;
  const auto key = crypto::VaultPrivateKey::generate(world_.random);
  const crypto::SealingVaultKey sealing{key.public_key()};
  services::Vault vault{{.async_db = world_.async_db,
                         .ids = world_.ids,
                         .random = world_.random,
                         .log = world_.log,
                         .agent = world_.agent,
                         .stored = stored_,
                         .guard = guard_,
                         .key = sealing,
                         .forget_sessions = [](AccountId) {},
                         .retire_sessions = [](AccountId) {},
                         .changed = [] {}}};
  api::add_credentials_routes(router_, {vault});
  world_.write([&](storage::Tx& tx) {
    std::vector<storage::DeliveryRow> rows;
    for (std::int64_t i = 0; i < kRead + 1'000; ++i) {
      storage::DeliveryRow row{
          .id = DeliveryId{world_.ids.next()}, .account = world_.account, .integration = world_.integration};
      row.order_key = to_string(row.id);
      row.cloud_account = world_.cloud_account;
      const storage::Buyer buyer{world_.cloud_account, row.order_key, world_.ids.make<CustomerId>()};
      row.customer = enqueue_buyers(tx, std::span(&buyer, 1), tx.now()).front();
      rows.push_back(std::move(row));
    }
    insert_deliveries(tx, rows);
  });
  std::string answer;
  const auto work = measure([&] { answer = send("GET", "/api/credentials?friends=true").body; });
  EXPECT_EQ(json::parse(answer).at("friends").at("countIsExact"), false);
  expect("GET /api/credentials?friends=true: of 10,000 deliveries, each to another buyer", work,
         {.statements = 10,
          .rows_read = 2 * kRead + 10,
          .bytes_read = 20 * kRead,
          .allocations = 20 * kRead,
          .branches = 100'000});
}

TEST_F(Routes, AJobOnAsManyDeliveriesAsAreScanned) {
  world_.write([&](storage::Tx& tx) {
    for (int i = 0; i < kDeliveryScanLimit + 1'000; ++i) {
      const auto id = world_.ids.next();
      storage::DeliveryRow row{
          .id = DeliveryId{id}, .account = world_.account, .integration = world_.integration};
      row.order_key = std::to_string(id);
      row.status = domain::DeliveryStatus::in_review;
      row.review_reasons = domain::ReviewReason::too_large;
      row.resolution = domain::ResolutionCode::order_too_large;
      row.created_at = row.updated_at = tx.now();
      insert_deliveries(tx, std::span(&row, 1));
    }
  });
  const json::object wanted{{"action", "approve"}, {"filter", json::object{{"all", true}}}};
  const auto work = measure([&] { EXPECT_EQ(send("POST", "/api/deliveries/bulk", wanted).status, 202); });
  expect("POST /api/deliveries/bulk: 10,000 without a file", work,
         {.rows_written = 5,
          .largest_transaction = 5,
          .statements = 30,
          .rows_read = 2 * kDeliveryScanLimit + 1'100,
          .bytes_written = 2'000,
          .bytes_read = 2 * kDeliveryScanLimit * 200,
          .allocations = 2 * kDeliveryScanLimit * 20,
          .branches = kDeliveryScanLimit * 4'000});
}

TEST_F(Routes, WhatAJobOnManyWouldCost) {
  // Deliveries beyond those whose items are looked at; each of as many files as an order may deliver.
  constexpr std::int64_t kMany = storage::kMostItemsPriced / kFiles + 200;
  world_.write([&](storage::Tx& tx) {
    for (std::int64_t i = 0; i < kMany; ++i) {
      storage::DeliveryRow row{
          .id = DeliveryId{world_.ids.next()}, .account = world_.account, .integration = world_.integration};
      row.order_key = to_string(row.id);
      row.status = domain::DeliveryStatus::failed;
      row.resolution = domain::ResolutionCode::cloud_rejected;
      row.created_at = row.updated_at = tx.now();
      insert_deliveries(tx, std::span(&row, 1));
      std::vector<storage::ItemRow> items;
      for (int n = 0; n < kFiles; ++n) {
        storage::ItemRow item;
        item.id = world_.ids.make<ItemId>();
        item.delivery = row.id;
        item.account = world_.account;
        item.file_id = std::to_string(n);
        item.kind = "preset";
        item.name = item.file_id;
        item.matched_by = "sku";
        item.quantity = 1;
        item.lines = "[]";
        item.status = domain::ItemStatus::owed;
        items.push_back(std::move(item));
      }
      insert_items(tx, items);
    }
  });
  const json::object wanted{{"action", "retry"}, {"filter", json::object{{"all", true}}}, {"dryRun", true}};
  std::string answer;
  const auto work = measure([&] { answer = send("POST", "/api/deliveries/bulk", wanted).body; });
  const auto parsed = json::parse(answer);
  const auto& plan = parsed.as_object();
  EXPECT_EQ(plan.at("eligible"), kMany);
  EXPECT_EQ(plan.at("creditsIsExact"), false);
  EXPECT_GE(plan.at("credits").as_int64(), storage::kMostItemsPriced);
  expect("POST /api/deliveries/bulk: what it would cost, asked", work,
         {.statements = 20,
          .rows_read = 3 * kMany + 100,
          .bytes_read = 3 * kMany * 200,
          .allocations = 3 * kMany * 20,
          .branches = 5'000'000});
}

TEST_F(Routes, WhatIsToldOfABusyAccount) {
  // Something of each kind in each quarter of an hour that is looked at.
  constexpr int kQuarters = 29 * 96;
  constexpr int kKinds = 8;
  world_.write([&](storage::Tx& tx) {
    for (int quarter = 0; quarter < kQuarters; ++quarter) {
      const auto at = tx.now() - quarter * storage::kQuarter;
      for (int kind = 0; kind < 7; ++kind)
        count_activity(tx, {world_.account, world_.integration, {}}, storage::Activity{kind}, 1, at);
      count_activity(tx, {world_.account, world_.integration, {}},
                     storage::Activity{storage::took_kind(3, 2)}, 1, at);
    }
  });
  services::LimitedRequests limited(world_.async_db);
  services::Statistics statistics(world_.async_db, limited);
  services::Overviews overviews(world_.async_db, {});
  services::Search search(world_.async_db);
  api::add_statistics_routes(router_, {statistics, world_.database.clock, std::chrono::days{90}});
  api::add_overview_routes(router_, {overviews, search});
  const auto overview =
      measure([&] { EXPECT_EQ(send("GET", "/api/overview?tz=Asia/Kathmandu").status, 200); });
  expect("GET /api/overview: 29 days full of everything", overview,
         {.statements = 60,
          .rows_read = kKinds * kQuarters + 200,
          .bytes_read = kKinds * kQuarters * 60,
          .allocations = kQuarters * 20,
          .branches = kKinds * kQuarters * 400});
  const auto usage = measure([&] { EXPECT_EQ(send("GET", "/api/usage?groupBy=integration").status, 200); });
  expect("GET /api/usage: 30 days full of everything", usage,
         {.statements = 10,
          .rows_read = kKinds * kQuarters + 200,
          .bytes_read = kKinds * kQuarters * 60,
          .allocations = kQuarters * 20,
          .branches = kKinds * kQuarters * 400});
}

TEST_F(Routes, ADelivery) {
  const auto id = largest();
  world_.write([&](storage::Tx& tx) {
    std::vector<storage::TimelineRow> rows;
    for (int i = 0; i < 10 * kTimeline; ++i)
      rows.push_back({id,
                      {.id = world_.ids.next(),
                       .at = tx.now(),
                       .type = domain::TimelineType::action,
                       .kind = domain::TimelineKind::action,
                       .actor = "system",
                       .status = "queued",
                       .resolution = "",
                       .message = "A message."}});
    append_timeline(tx, rows);
  });
  const auto work = measure([&] { EXPECT_EQ(send("GET", "/api/deliveries/" + to_string(id)).status, 200); });
  expect("GET /api/deliveries/{delivery}: 500 files, 2,000 entries", work,
         {.statements = 24,
          .rows_read = 2 * kFiles + kTimeline + 30,
          .bytes_read = 2 * (std::int64_t{kLines} * kOfKey * (kLineIdBytes + 3) + 500 * 500),
          .allocations = 30 * (2 * kFiles + kTimeline) + 1'000,
          .branches = 300'000});
}

TEST_F(Routes, AnInvalidation) {
  const auto id = largest();
  const auto work = measure([&] {
    EXPECT_EQ(send("POST", "/api/deliveries/" + to_string(id) + "/invalidate",
                   json::object{{"reason", std::string(500, 'r')}})
                  .status,
              200);
  });
  expect("POST …/invalidate: 500 files", work,
         {.rows_written = 10,
          .largest_transaction = 10,
          .statements = 36,
          .rows_read = 3 * kFiles + 40,
          .bytes_written = 30'000,
          .bytes_read =
              std::int64_t{kLines} * kOfKey * (kLineIdBytes + 3) + 3 * static_cast<std::int64_t>(kBody),
          .allocations = 35 * kFiles + 2'000,
          .branches = 300'000});
}

}  // namespace
}  // namespace presetbridge::worst_case
