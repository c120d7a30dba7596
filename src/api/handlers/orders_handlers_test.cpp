// The HTTP form of orders and of jobs on many. orders_test.cpp and bulk_reprocess_test.cpp of services/ test their
// effects.
#include "api/handlers/orders_handlers.h"

#include <array>

#include "api/handlers/bulk_handlers.h"
#include "api/handlers/privacy_handlers.h"
#include "api/merchant_api_testing.h"
#include "storage/stores/order_store.h"

namespace presetbridge::api {
namespace {

class OrdersApi : public testing::MerchantApiTest {
 protected:
  OrdersApi() {
    add_orders_routes(router_, {orders_, bulk_, std::chrono::days{30}});
    add_bulk_routes(router_, {jobs_, on_deliveries_});
    add_privacy_routes(router_, {inbox_});
  }
  // An order as it is stored, without a delivery.
  std::string add(IntegrationId store, std::string key, domain::OrderOutcome outcome, std::int64_t unmapped) {
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
                          .outcome = outcome,
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

  services::Orders orders_{world_.async_db, changes_, directory_, [this] { ++wakes_; }};
  services::BulkJobs jobs_{world_.async_db, world_.ids, [this] { ++wakes_; }};
  services::BulkReprocess bulk_{world_.async_db, changes_, directory_, jobs_};
  services::BulkDeliveries on_deliveries_{world_.async_db, deliveries_, jobs_};
  services::PrivacyInbox inbox_{world_.async_db, world_.ids};
};

TEST_F(OrdersApi, AnOrderSaysWhyItDeliversNothing) {
  const auto store = integration_id(add_integration());
  const auto id = add(store, "1001", domain::OrderOutcome::no_mapped_items, 1);
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

// The answer for one order and the list agree.
TEST_F(OrdersApi, AnOrderSaysForWhomItsDeliveryIsAndWhetherItIsADryRun) {
  const auto store = integration_id(add_integration());
  const auto without = add(store, "1", domain::OrderOutcome::no_mapped_items, 1);
  const auto nobody = add(store, "2", domain::OrderOutcome::delivery, 0);
  const auto corrected = add(store, "3", domain::OrderOutcome::delivery, 0);
  const auto deliver = [&](const std::string& order, std::string username, bool dry_run) {
    write([&](storage::Tx& tx) {
      storage::DeliveryRow row{.id = DeliveryId{parse_id<OrderKind>(order).value().value},
                               .account = account_,
                               .integration = store,
                               .order_key = order,
                               .username = username,
                               .dry_run = dry_run};
      row.created_at = row.updated_at = tx.now();
      insert_deliveries(tx, std::span(&row, 1));
    });
  };
  deliver(nobody, "", true);
  deliver(corrected, "jonasek", false);
  const auto shown = [&](const json::value& order) {
    return json::array{order.at("deliveryUsername"), order.at("dryRun")};
  };
  const auto all = send(me_, "GET", "/api/orders").body.at("data").as_array();
  ASSERT_EQ(all.size(), 3U);
  const std::array expected{json::array{"jonasek", false}, json::array{nullptr, true},
                            json::array{nullptr, nullptr}};
  const std::array ids{corrected, nobody, without};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(shown(all[i]), expected[i]) << ids[i];
    EXPECT_EQ(shown(send(me_, "GET", "/api/orders/" + ids[i]).body), expected[i]) << ids[i];
  }
}

TEST_F(OrdersApi, WhatIsDeliveredWholeIsProcessedAgainOnlyWhereSomebodySaysSo) {
  const auto store = integration_id(add_integration());
  add(store, "1", domain::OrderOutcome::no_mapped_items, 1);
  add(store, "2", domain::OrderOutcome::inactive, 0);
  add(store, "3", domain::OrderOutcome::delivery, 0);
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

TEST_F(OrdersApi, AJobOnDeliveriesIsAskedForByIdsOrByAFilter) {
  const auto path = "/api/deliveries/bulk";
  const auto empty = send(me_, "POST", path,
                          json::object{{"action", "retry"}, {"filter", {{"all", true}}}, {"dryRun", true}});
  ASSERT_EQ(empty.status, 200) << empty.text;
  EXPECT_EQ(empty.body, (json::object{{"total", 0},
                                      {"totalIsExact", true},
                                      {"eligible", 0},
                                      {"excluded", json::array()},
                                      {"credits", 0},
                                      {"creditsIsExact", true}}));
  const json::array unknown{"del_0a1b2c3d4e5f6"};
  const auto made =
      send(me_, "POST", path, json::object{{"action", "invalidate"}, {"ids", unknown}, {"reason", "x"}});
  ASSERT_EQ(made.status, 202) << made.text;
  EXPECT_EQ(made.string("action"), "deliveries.invalidate");
  EXPECT_EQ(made.body.at("eligible").as_int64(), 0);
  EXPECT_EQ(made.body.at("excluded"), (json::array{json::object{{"code", "NOT_FOUND"}, {"count", 1}}}));
  EXPECT_TRUE(made.body.at("fault").is_null());
  EXPECT_EQ(send(stranger_, "GET", "/api/bulk/" + made.string("id")).status, 404);

  const json::object filter{{"status", json::array{"failed"}}};
  for (const json::object& wrong : std::vector<json::object>{
           {},
           {{"action", "retry"}},
           {{"action", "revoke"}, {"filter", filter}},
           {{"action", "retry"}, {"filter", filter}, {"ids", unknown}},
           {{"action", "retry"}, {"ids", json::array()}},
           {{"action", "retry"}, {"ids", json::array{"ord_0a1b2c3d4e5f6"}}},
           {{"action", "retry"}, {"ids", json::array(1'001, "del_0a1b2c3d4e5f6")}},
           {{"action", "invalidate"}, {"filter", filter}},
           {{"action", "retry"}, {"filter", filter}, {"reason", "x"}},
           {{"action", "retry"}, {"filter", json::object{{"status", json::array{"lost"}}}}},
           {{"action", "retry"}, {"filter", json::object{{"status", json::array()}}}},
           {{"action", "retry"}, {"filter", json::object{{"state", "x"}}}},
           {{"action", "retry"}, {"filter", json::object()}},
           {{"action", "retry"}, {"filter", json::object()}, {"dryRun", true}},
           {{"action", "retry"}, {"filter", json::object{{"all", false}}}},
           {{"action", "retry"}, {"filter", json::object{{"all", true}, {"q", "ann"}}}},
           {{"action", "retry"}, {"filter", json::object{{"q", "\u00a0"}}}},
           {{"action", "retry"}, {"filter", json::object{{"q", "@"}}}},
           {{"action", "retry"}, {"filter", json::object{{"q", ""}}}},
           {{"action", "retry"}, {"filter", filter}, {"asOf", "yesterday"}},
       }) {
    const auto answer = send(me_, "POST", path, wrong);
    EXPECT_EQ(answer.status, 422) << json::serialize(wrong) << answer.text;
  }
}

TEST_F(OrdersApi, AMemberOfAJobsFilterThatIsNullIsNotTakenAsAbsent) {
  for (const auto* member :
       {"status", "resolutionCode", "reviewReason", "integrationId", "orderId", "q", "fileId", "dryRun",
        "refunded", "createdFrom", "createdTo", "updatedFrom", "updatedTo", "all"}) {
    json::object filter{{"status", json::array{"failed"}}};
    filter[member] = nullptr;
    for (const bool dry_run : {true, false}) {
      const auto answer = send(me_, "POST", "/api/deliveries/bulk",
                               json::object{{"action", "retry"}, {"filter", filter}, {"dryRun", dry_run}});
      ASSERT_EQ(answer.status, 422) << member;
      EXPECT_EQ(answer.body.at("error").at("details").at(0).at("field"),
                json::value(std::string("filter.") + member));
    }
  }
  for (const auto* member : {"outcome", "integrationId", "q", "receivedFrom", "receivedTo"}) {
    const auto answer =
        send(me_, "POST", "/api/orders/reprocess", json::object{{member, nullptr}, {"dryRun", true}});
    EXPECT_EQ(answer.code(), "VALIDATION_FAILED") << member;
  }
}

}  // namespace
}  // namespace presetbridge::api
