// Orders that pass a limit, and what is done to a delivery as large as there may be.
#include "worst_case_testing.h"

namespace presetbridge::worst_case {
namespace {

constexpr int kKeys = kFiles / kOfKey;
constexpr auto kBytes = static_cast<std::int64_t>(kBody);
constexpr std::int64_t kLinesOfItems = std::int64_t{kLines} * kOfKey * (kLineIdBytes + 3);

class LargeDeliveries : public WorstCase {
 protected:
  DeliveryId accept_largest() {
    EXPECT_EQ(map(kKeys, kOfKey).status, 200);
    const auto answer = hook("orders/create", order("1", kKeys));
    return parse_id<DeliveryKind>(answer.at("deliveryId").as_string()).value();
  }
  Work act(DeliveryId id, const std::string& action, int status, const json::value& body = nullptr) {
    return measure([&] {
      EXPECT_EQ(send("POST", "/api/deliveries/" + to_string(id) + "/" + action, body).status, status);
    });
  }
};

// What one of them does to every file of the delivery, and no more.
constexpr Bound kAction{.rows_written = 2 * kFiles + 20,
                        .largest_transaction = 2 * kFiles + 20,
                        .statements = 60,
                        .rows_read = 6 * kFiles + kMappings + 100,
                        .bytes_written = 2 * kLinesOfItems + kBytes,
                        .bytes_read = 4 * kLinesOfItems + 4 * kBytes,
                        .allocations = 300'000,
                        .branches = 40'000'000};

TEST_F(LargeDeliveries, AnOrderOfMoreFilesThanADeliveryMayOwe) {
  ASSERT_EQ(map(kMappings / kOfKey, kOfKey).status, 200);
  const auto body = json::serialize(order("1", kMappings / kOfKey));
  const auto work = measure([&] { hook("orders/create", body); });
  expect("new order: 250 lines that owe 5,000 files", work,
         {.rows_written = 12,
          .largest_transaction = 12,
          .statements = 25,
          .rows_read = kMappings + 20,
          .bytes_written = 2 * kBytes,
          .bytes_read = 2 * kBytes,
          .allocations = 150'000,
          .branches = 40'000'000});
}

TEST_F(LargeDeliveries, AnOrderOfSixteenThousandRefundLines) {
  ASSERT_EQ(map(kKeys, kOfKey).status, 200);
  json::array lines;
  for (int line = 0; line < 200; ++line)
    lines.push_back(json::object{{"id", line}, {"sku", sku(line % kKeys)}, {"quantity", 100}});
  json::array refunds;
  for (int refund = 0; refund < 80; ++refund) {
    json::array refunded;
    for (int line = 0; line < 200; ++line)
      refunded.push_back(json::object{{"line_item_id", line}, {"quantity", 1}});
    refunds.push_back(json::object{{"id", refund}, {"refund_line_items", std::move(refunded)}});
  }
  const json::object body{{"id", "1"},
                          {"financial_status", "paid"},
                          {"updated_at", "2026-10-01T00:00:00Z"},
                          {"note", "vendor username: Ann"},
                          {"line_items", std::move(lines)},
                          {"refunds", std::move(refunds)}};
  const auto text = json::serialize(body);
  const auto work = measure([&] { hook("orders/create", text); });
  expect("new order: 200 lines, 16,000 refund lines", work,
         // It waits in review with its files.
         {.rows_written = kFiles + 12,
          .largest_transaction = kFiles + 12,
          .statements = 25,
          .rows_read = kFiles + 20,
          .bytes_written = 2 * kBytes,
          .bytes_read = 2 * kBytes,
          .allocations = 200'000,
          .branches = 20'000'000});
}

TEST_F(LargeDeliveries, AnOrderWithAsManyRefundLinesAsItMayHave) {
  const auto id = accept_largest();
  auto body = order("1", kKeys, 1);
  body["note"] = "";
  json::array refunds;
  for (int refund = 0; refund < kRefundLines / kLines; ++refund) {
    json::array lines;
    for (int line = 0; line < kLines; ++line) {
      lines.push_back(json::object{{"line_item_id", longest("l", line, kLineIdBytes)},
                                   {"quantity", refund == 0 ? 1 : 0}});
    }
    refunds.push_back(json::object{{"id", refund}, {"refund_line_items", std::move(lines)}});
    body["refunds"] = refunds;
    if (json::serialize(body).size() > kBody) {
      refunds.pop_back();
      break;
    }
  }
  body["refunds"] = std::move(refunds);
  const auto text = json::serialize(body);
  const auto work = measure([&] { hook("orders/updated", text); });
  for (const auto& item : world_.items(id)) EXPECT_EQ(item.status, domain::ItemStatus::dropped);
  expect("an order of 500 files, all lines refunded", work, kAction);
}

TEST_F(LargeDeliveries, ARetryThatIsRefused) {
  const auto id = accept_largest();
  expect("POST …/retry: refused", act(id, "retry", 409),
         {.rows_written = 0,
          .largest_transaction = 0,
          .statements = 10,
          .rows_read = 20,
          .bytes_written = 0,
          .bytes_read = kBytes,
          .allocations = 5'000,
          .branches = 100'000});
}

TEST_F(LargeDeliveries, DeliveredByHandAndRevoked) {
  const auto id = accept_largest();
  world_.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE deliveries SET status = 'in_review', open = 0 WHERE id = $1"}, id);
  });
  expect("POST …/complete: 500 files", act(id, "complete", 200), kAction);
  world_.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE delivery_items SET status = 'shared', shared_at = 1, customer_id ="
             " (SELECT customer_id FROM deliveries WHERE id = $1) WHERE delivery_id = $1"},
            id);
  });
  expect("POST …/revoke: 500 files", act(id, "revoke", 202), kAction);
  world_.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE delivery_items SET status = 'revoked' WHERE delivery_id = $1"}, id);
  });
  const auto read = measure([&] { EXPECT_EQ(send("GET", "/api/deliveries/" + to_string(id)).status, 200); });
  expect("GET of a delivery: 500 files that were taken back", read,
         {.rows_written = 0,
          .largest_transaction = 0,
          .statements = 30,
          .rows_read = 2 * kFiles + 100,
          .bytes_written = 0,
          .bytes_read = 2 * kLinesOfItems + 2 * kBytes,
          .allocations = 50'000,
          .branches = 10'000'000});
}

// Each file is a step, and a transaction, of its own: no step may cost as much as the delivery.
TEST_F(LargeDeliveries, AWholeDelivery) {
  const auto id = accept_largest();
  hold_queue(Millis{0});
  const auto work = measure([&] { world_.settle(Millis{60'000}); });
  ASSERT_EQ(world_.status(id), "completed");
  expect("a delivery of 500 files, to its end", work,
         {.rows_written = 10 * kFiles,
          .largest_transaction = 20,
          .statements = 20 * kFiles,
          // In each step the items of the delivery, and those that the customer has by then.
          .rows_read = 20 * kFiles + 3 * kFiles * kFiles / 2,
          .bytes_written = 2 * kLinesOfItems + kFiles * 2'000,
          .bytes_read = 200 * (20 * kFiles + 3 * kFiles * kFiles / 2),
          .allocations = 5'000 * kFiles,
          .branches = 260'000 * kFiles});  // those of the delivery set are among them
}

}  // namespace
}  // namespace presetbridge::worst_case
