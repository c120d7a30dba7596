// What a merchant sees and tries of a store that has sent as much as is kept of it.
#include "api/handlers/stores_handlers.h"
#include "domain/product.h"
#include "services/intake/store_tally.h"
#include "services/stores/unmapped_orders.h"
#include "storage/stores/product_store.h"
#include "worst_case_testing.h"

namespace presetbridge::worst_case {
namespace {

constexpr int kProducts = storage::kMaxProducts;
constexpr auto kStates = static_cast<std::int64_t>(services::kMostUnmappedBytes);

class Stores : public WorstCase {
 protected:
  Stores() {
    api::add_stores_routes(
        router_, {services::Products(world_.async_db),
                  services::MappingPreviews(world_.async_db, integrations_.limits()),
                  services::TestOrders(world_.async_db, world_.directory, world_.ids, world_.database.clock),
                  world_.reception});
  }
  // As many as a store may have, with names as long as they may be.
  void add_products() {
    std::vector<storage::ProductRow> rows;
    for (int i = 0; i < kProducts; ++i) {
      rows.push_back({.integration = world_.integration,
                      .key = "sku:" + std::to_string(100'000 + i),
                      .id = world_.ids.next(),
                      .title = longest("t", i, domain::kMaxProductTitle),
                      .sku = sku(i),
                      .product_id = longest("p", i, kIdBytes),
                      .variant_id = longest("v", i, kIdBytes)});
    }
    world_.write([&](storage::Tx& tx) { put_products(tx, rows); });
  }
  // More orders that nothing serves than are looked at, as large as they are.
  void add_unmapped_orders() {
    hook("orders/create", order("first", kLines));
    const auto row = world_.write([&](storage::Tx& tx) {
      return find_unmapped_orders(tx, world_.integration, OrderId{INT64_MAX}, 1).at(0);
    });
    for (int i = 0; i < 100; ++i) {
      auto another = row;
      another.id = world_.ids.make<OrderId>();
      another.order_key = std::to_string(i);
      world_.write([&](storage::Tx& tx) { insert_orders(tx, std::array{another}); });
    }
  }
};

TEST_F(Stores, AListOfProducts) {
  add_unmapped_orders();
  ASSERT_EQ(map(kMappings / kOfKey, kOfKey).status, 200);
  add_products();
  // What the list finds outdated it writes.
  const auto work = measure([&] { EXPECT_EQ(send("GET", store_ + "/products?limit=100").status, 200); });
  expect("GET …/products: 5,000, and orders that nothing serves", work,
         {.rows_written = kProducts,
          .largest_transaction = storage::kMappingBatch,
          .statements = 60,
          .rows_read = 2 * kProducts + 12 * kMappings,
          .bytes_written = 2'000 * kProducts,
          .bytes_read = 2 * kStates + 4'000 * kProducts + 12 * kMappings * 250,
          .allocations = 1'500'000,
          .branches = 40'000'000});
}

TEST_F(Stores, APreviewOfOtherMappings) {
  add_unmapped_orders();
  json::array mappings;
  for (int i = 0; i < kMappings; ++i)
    mappings.push_back(
        json::object{{"matchType", "title"}, {"matchValue", longest("m", i, 80)}, {"fileId", "f"}});
  int status = 0;
  const auto work = measure([&] {
    status = send("POST", store_ + "/mappings/preview",
                  json::object{{"mappings", std::move(mappings)}, {"orderId", "first"}})
                 .status;
  });
  ASSERT_EQ(status, 200);
  expect("POST …/mappings/preview: 5,000 mappings, and orders that nothing serves", work,
         {.statements = 20,
          .rows_read = services::kMostUnmappedOrders,
          .bytes_read = 2 * kStates + 1'000'000,
          .allocations = 1'500'000,
          .branches = 100'000'000});
}

TEST_F(Stores, ASaveOfMappingsThatServesEveryProduct) {
  add_products();
  int status = 0;
  const auto work = measure([&] { status = map(kMappings, 1).status; });
  ASSERT_EQ(status, 200);
  expect("PUT …/mappings: 5,000 new, for 5,000 products", work,
         {.rows_written = 2 * kMappings + kProducts + 60,
          .largest_transaction = storage::kMappingBatch + 10,
          .statements = 150,
          .rows_read = kProducts + 12 * kMappings,
          .bytes_written = 3 * static_cast<std::int64_t>(kBody) + 1'000 * kProducts,
          .bytes_read = 3 * static_cast<std::int64_t>(kBody) + 2'000 * kProducts + 12 * kMappings * 250,
          .allocations = 200 * kMappings,
          .branches = 60'000'000});
}

TEST_F(Stores, ATableOfMappings) {
  std::string table = "matchType,matchValue,fileId,fileName\n";
  for (int i = 0; i < kMappings; ++i)
    table += "sku," + sku(i) + "," + longest("f", i, 60) + "," + longest("n", i, 100) + "\n";
  ASSERT_LE(table.size(), kBody);
  int status = 0;
  const auto import = [&] {
    status = send("POST", store_ + "/mappings.csv", table, {{"Content-Type", "text/csv"}}).status;
  };
  const auto work = measure(import);
  ASSERT_EQ(status, 200);
  expect("POST …/mappings.csv: 5,000", work,
         {.rows_written = 2 * kMappings + 60,
          .largest_transaction = storage::kMappingBatch + 10,
          .statements = 100,
          .rows_read = kMappings + 100,
          .bytes_written = 3 * static_cast<std::int64_t>(kBody),
          .bytes_read = 3 * static_cast<std::int64_t>(kBody),
          .allocations = 100 * kMappings,
          .branches = 30'000'000});
}

TEST_F(Stores, WhatIsGatheredOfAStore) {
  services::StoreTally tally(world_.scheduler, world_.async_db, world_.ids, world_.database.clock,
                             world_.log);
  const auto store = world_.await(world_.directory.find(world_.scheduler, world_.integration)).value();
  services::Accepted accepted;
  accepted.first_seen = true;
  for (int i = 0; i < 20; ++i) {
    domain::OrderEvent event;
    for (int line = 0; line < kLines; ++line) {
      auto& one = event.lines.emplace_back();
      one.variant_id = longest("v", i * kLines + line, kIdBytes);
      one.title = longest("t", line, 1'000);
    }
    tally.accepted(store, services::seen(event, {.topic = "topic/" + std::to_string(i)}), accepted);
  }
  const auto flushed = [&]() -> Task<int> {
    co_await tally.flush();
    co_return 0;
  };
  const auto work = measure([&] { world_.await(flushed()); });
  expect("what a store has sent in two seconds: 2,500 products", work,
         {.rows_written = 2'600,
          .largest_transaction = 600,
          .statements = 25,
          .rows_read = 40,
          .bytes_written = 2'500 * 1'500,
          .bytes_read = 1'000,
          .allocations = 100'000,
          .branches = 1'000'000});
}

}  // namespace
}  // namespace presetbridge::worst_case
