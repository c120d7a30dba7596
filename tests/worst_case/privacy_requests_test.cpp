// Privacy requests that name as many orders as a body holds.
#include "services/intake/privacy.h"
#include "services/stores/privacy_inbox.h"
#include "storage/stores/privacy_store.h"
#include "worst_case_testing.h"

namespace presetbridge::worst_case {
namespace {

constexpr int kKnown = 1'000;
constexpr auto kBatches = kKnown / static_cast<std::int64_t>(services::kEraseBatch);
constexpr int kRowsOfOrder = 13;  // order, payload, delivery, items, timeline, event, send, customer

class PrivacyRequests : public WorstCase {
 protected:
  void accept_orders(int count) {
    for (int i = 0; i < count; ++i) {
      auto event = world_.order(std::to_string(i), "Ann-" + std::to_string(i), {"sku-1"});
      world_.accept(event);
    }
  }
};

TEST_F(PrivacyRequests, ABodyFullOfIds) {
  accept_orders(kKnown);
  std::string ids;
  int count = 0;
  for (; ids.size() < kBody - 200; ++count) ids += (count == 0 ? "" : ",") + std::to_string(count);
  const std::string body = R"({"customer":{"email":"buyer@example.com"},"orders_to_redact":[)" + ids + "]}";
  ASSERT_GT(count, 150'000);
  const auto work = measure([&] { hook("customers/redact", body); });
  expect("customers/redact: 1 MiB of ids, 1,000 of them known", work,
         {.rows_written = kKnown * kRowsOfOrder + 2 * kBatches + 10,
          .largest_transaction = static_cast<std::int64_t>(services::kEraseBatch) * kRowsOfOrder + 10,
          .statements = count / 5'000 + 20 + kBatches * 26,
          .rows_read = kKnown * 12 + 3 * kBatches,
          .bytes_written = kKnown * 2'000,
          .bytes_read = kKnown * 2'000,
          .allocations = 3 * count + kKnown * 500,
          .branches = 200'000'000});
}

TEST_F(PrivacyRequests, ADataRequestFullOfIds) {
  accept_orders(kKnown);
  std::string ids;
  int count = 0;
  for (; ids.size() < kBody - 200; ++count) ids += (count == 0 ? "" : ",") + std::to_string(count);
  const std::string body = R"({"customer":{"email":"buyer@example.com"},"orders_requested":[)" + ids + "]}";
  const auto work = measure([&] { hook("customers/data_request", body); });
  constexpr auto kNamed = static_cast<std::int64_t>(storage::kMostOrdersNamed);
  expect("customers/data_request: 1 MiB of ids", work,
         {.rows_written = kNamed + 10,
          .largest_transaction = kNamed + 10,
          .statements = 20,
          .rows_read = 20,
          .bytes_written = kNamed * 100,
          .bytes_read = 20'000,
          .allocations = 3 * count + kNamed * 20,
          .branches = 200'000'000});
  services::PrivacyInbox inbox(world_.async_db, world_.ids);
  const auto listed = measure([&] {
    const auto me = world_.merchant();
    const auto id = world_.await(inbox.list(world_.scheduler, me, true, {})).value().rows.at(0).id;
    EXPECT_EQ(world_.await(inbox.orders(world_.scheduler, me, id, {.limit = 100})).value().rows.size(), 100U);
  });
  expect("GET /api/privacy-requests/{privacyRequest}/orders: 100 of 500", listed,
         {.statements = 6,
          .rows_read = 320,
          .bytes_read = 100 * 1'000,
          .allocations = 100 * 100,
          .branches = 1'000'000});
}

TEST_F(PrivacyRequests, AShop) {
  accept_orders(kKnown);
  services::ShopErasure erasure(world_.scheduler, world_.async_db, world_.changes, world_.log);
  hook("shop/redact", std::string(R"({"shop_id":1})"));
  const auto work = measure([&] {
    erasure.start();
    world_.settle(Millis{1'000});
  });
  bool stopped = false;
  erasure.stop([&] { stopped = true; });
  world_.scheduler.run();
  ASSERT_TRUE(stopped);
  expect("shop/redact of 1,000 orders, after the answer", work,
         {.rows_written = kKnown * kRowsOfOrder + 3 * kBatches + 20,
          .largest_transaction = static_cast<std::int64_t>(services::kEraseBatch) * kRowsOfOrder + 10,
          .statements = 60 + kBatches * 29,
          .rows_read = kKnown * 12 + 3 * kBatches,
          .bytes_written = kKnown * 2'000,
          .bytes_read = kKnown * 2'000,
          .allocations = kKnown * 500,
          .branches = kKnown * 20'000});
}

}  // namespace
}  // namespace presetbridge::worst_case
