// The HTTP form of orders and of jobs on many. What they do is services/orders_test.cpp's.
#include "api/orders_handlers.h"

#include <array>

#include "api/bulk_handlers.h"
#include "api/merchant_api_testing.h"
#include "api/privacy_handlers.h"
#include "storage/order_store.h"

namespace presetbridge::api {
namespace {

class OrdersApi : public testing::MerchantApiTest {
 protected:
  OrdersApi() {
    add_orders_routes(router_, {orders_, bulk_, std::chrono::days{30}});
    add_bulk_routes(router_, {jobs_});
    add_privacy_routes(router_, {inbox_});
  }
  // An order as it is stored, without a delivery.
  std::string add(IntegrationId store, std::string key, std::string outcome, std::int64_t unmapped) {
    domain::OrderState state{.seen = true, .order_number = "#" + key};
    domain::OrderLine line;
    line.line_id = "1";
    line.title = "Pack";
    line.mapped = unmapped > 0 ? domain::OrderLine::Mapped::nothing : domain::OrderLine::Mapped::not_yet;
    state.lines = {line};
    storage::OrderRow row{.id = world_.ids.make<OrderId>(),
                          .account = account_,
                          .integration = store,
                          .order_key = std::move(key),
                          .outcome = std::move(outcome),
                          .unmapped = unmapped};
    set_state(row, state);
    write([&](storage::Tx& tx) {
      row.received_at = row.updated_at = tx.now();
      insert_orders(tx, std::array{row});
    });
    return to_string(row.id);
  }
  std::int64_t total(json::object body) {
    body["dryRun"] = true;
    return send(me_, "POST", "/api/orders/reprocess", std::move(body)).body.at("total").as_int64();
  }

  services::Orders orders_{world_.commits, changes_, directory_, [this] { ++wakes_; }};
  services::BulkJobs jobs_{world_.commits, world_.ids, [this] { ++wakes_; }};
  services::BulkReprocess bulk_{world_.commits, changes_, directory_, jobs_};
  services::PrivacyInbox inbox_{world_.commits, world_.ids};
};

TEST_F(OrdersApi, AnOrderSaysWhyItDeliversNothing) {
  const auto store = integration_id(add_integration());
  const auto id = add(store, "1001", "no_mapped_items", 1);
  const auto it = send(me_, "GET", "/api/orders/" + id);
  EXPECT_EQ(it.string("outcome"), "no_mapped_items");
  EXPECT_EQ(it.string("reason"), "The order's one line has no mapping, so nothing is delivered.");
  EXPECT_TRUE(it.body.at("deliveryId").is_null());
  EXPECT_TRUE(it.body.at("payloadKeptUntil").is_null());
  EXPECT_EQ(it.body.at("lines").at(0).at("result"), "unmapped");
  EXPECT_EQ(send(me_, "GET", "/api/orders/" + id + "/payload").code(), "NOT_FOUND");
  EXPECT_EQ(send(me_, "GET", "/api/orders?q=1001").body.at("data").at(0).at("id"), json::string(id));
  EXPECT_EQ(send(stranger_, "GET", "/api/orders?q=1001").body.at("data").as_array().size(), 0U);
  EXPECT_EQ(send(key({IntegrationId{5}}), "GET", "/api/orders/" + id).code(), "NOT_FOUND");
}

TEST_F(OrdersApi, WhatIsDeliveredWholeIsProcessedAgainOnlyWhereSomebodySaysSo) {
  const auto store = integration_id(add_integration());
  add(store, "1", "no_mapped_items", 1);
  add(store, "2", "inactive", 0);
  add(store, "3", "delivery", 0);
  EXPECT_EQ(total({}), 1);
  EXPECT_EQ(total({{"unmapped", nullptr}}), 1);
  EXPECT_EQ(total({{"unmapped", false}}), 3);
  EXPECT_EQ(total({{"outcome", "inactive"}}), 1);
  EXPECT_EQ(total({{"outcome", "inactive"}, {"unmapped", true}}), 0);
  EXPECT_EQ(total({{"q", "3"}}), 0);
  EXPECT_EQ(wakes_, 0) << "nothing was asked for";

  const auto asked = send(me_, "POST", "/api/orders/reprocess", json::object{});
  EXPECT_EQ(asked.status, 202);
  EXPECT_EQ(asked.string("action"), "orders.reprocess");
  EXPECT_EQ(wakes_, 1);
  const auto path = "/api/bulk/" + asked.string("id");
  EXPECT_EQ(send(me_, "GET", path).body.at("total"), 1);
  EXPECT_EQ(send(stranger_, "GET", path).code(), "NOT_FOUND");
}

TEST_F(OrdersApi, FiltersThatAreNoneAreRefusedAndNamed) {
  for (const auto* query : {"outcome=lost", "outcome=", "unmapped=1", "unmapped=", "integrationId=x",
                            "integrationId=", "q=", "receivedFrom=now", "receivedFrom=", "receivedTo=1",
                            "receivedTo=2026-01-02T03:04:05", "cursor=x"}) {
    const auto refused = send(me_, "GET", std::string("/api/orders?") + query);
    EXPECT_EQ(refused.code(), "VALIDATION_FAILED") << query;
  }
  const auto refused = send(me_, "POST", "/api/orders/reprocess",
                            json::object{{"outcome", "lost"}, {"unmapped", "no"}, {"receivedTo", "1"}});
  EXPECT_EQ(refused.code(), "VALIDATION_FAILED");
  EXPECT_EQ(refused.body.at("error").at("details").as_array().size(), 3U);
  EXPECT_EQ(send(me_, "GET", "/api/privacy-requests?open=maybe").code(), "VALIDATION_FAILED");
  EXPECT_EQ(send(me_, "POST", "/api/privacy-requests/prv_0a1b2c3d4e5f6/close").code(), "NOT_FOUND");
}

}  // namespace
}  // namespace presetbridge::api
