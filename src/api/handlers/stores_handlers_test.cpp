// The routes of a store show a merchant its requests and sales, preview mappings, take tables of mappings
// and make test orders.
#include "api/handlers/stores_handlers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/merchant_api_testing.h"
#include "providers/sample_order.h"

namespace presetbridge::api::testing {
namespace {

class StoresApi : public MerchantApiTest {
 protected:
  StoresApi() {
    add_webhook_routes(router_, {reception_, failures_});
    add_stores_routes(
        router_, {services::Products(world_.async_db),
                  services::MappingPreviews(world_.async_db, integrations_.limits()),
                  services::TestOrders(world_.async_db, directory_, world_.ids, world_.clock()), reception_});
    made_ = add_integration();
    store_ = "/api/integrations/" + made_.string("id");
  }

  struct Raw {
    int status = 0;
    std::string text;
    std::string content_type;
    json::value body() const { return json::parse(text); }
  };
  // A request of any body.
  Raw send_raw(const identity::Principal& by, std::string method, const std::string& target, std::string body,
               std::vector<std::pair<std::string, std::string>> headers) {
    Call call;
    call.request.method = method;
    call.request.path = target.substr(0, target.find('?'));
    call.request.body = std::move(body);
    call.request.remote_address = "127.0.0.1";
    for (auto& [name, value] : headers) call.request.headers.add(name, value);
    call.request.executor = &world_.scheduler;
    if (const auto at = target.find('?'); at != std::string::npos)
      call.query = parse_query(std::string_view(target).substr(at + 1)).value();
    call.principal = by;
    auto match = router_.match(method, call.request.path);
    EXPECT_TRUE(match) << method << " " << target;
    call.params = match->params;
    auto reply = world_.await(match->route->handler(std::move(call)));
    const auto response = reply ? *reply : error_response(reply.error());
    return {response.status, response.body, response.content_type};
  }
  Raw import(const std::string& table, std::string_view query = "") {
    return send_raw(me_, "POST", store_ + "/mappings.csv" + std::string(query), table,
                    {{"Content-Type", "text/csv; charset=utf-8"}});
  }
  std::string table() { return send_raw(me_, "GET", store_ + "/mappings.csv", "", {}).text; }

  // As the store signs it, unless another secret is given.
  Raw order(const std::string& id, std::vector<std::string> skus, std::string secret = {}) {
    providers::SampleOrder sample{.order_id = id, .username = "ann", .email = "a@x.example", .lines = {}};
    for (auto& sku : skus) sample.lines.emplace_back().sku = std::move(sku);
    const auto body = providers::sample_order_body(domain::Provider::generic, sample);
    if (secret.empty()) secret = made_.string("secret");
    return send_raw({}, "POST", "/api/webhooks/generic/" + made_.string("id"), body,
                    providers::sample_order_headers(domain::Provider::generic, secret, body));
  }
  void map(std::vector<std::pair<std::string, std::string>> files) {
    json::array mappings;
    for (auto& [sku, file] : files)
      mappings.push_back(json::object{{"matchType", "sku"}, {"matchValue", sku}, {"fileId", file}});
    ASSERT_EQ(send(me_, "PUT", store_ + "/mappings", json::object{{"mappings", mappings}}).status, 200);
  }
  static Task<int> flushed(services::StoreTally& tally) {
    co_await tally.flush();
    co_return 0;
  }
  Answer shown() {
    world_.await(flushed(tally_));
    return send(me_, "GET", store_);
  }
  Answer products(const std::string& query = "") {
    world_.await(flushed(tally_));
    return send(me_, "GET", store_ + "/products" + query);
  }

  services::Intake intake_{world_.async_db, changes_, world_.clock(), [] {}};
  services::StoreTally tally_{world_.scheduler, world_.async_db, world_.ids, world_.clock(), log_};
  NullMetrics metrics_;
  net::NetworkBudget failures_{world_.clock(), {}, {.failures = 300, .window = std::chrono::minutes{1}}};
  services::Reception reception_{{directory_, intake_, world_.async_db, world_.clock(), metrics_, &tally_},
                                 {}};
  Answer made_;
  std::string store_;
};

// ---------------------------------------------------------------- what a store has sent

TEST_F(StoresApi, AStoreShowsWhatItHasSentAndWhatWasRefused) {
  EXPECT_TRUE(shown().body.at("lastOrderAt").is_null());
  EXPECT_EQ(order("1", {"A"}).status, 202);
  EXPECT_EQ(order("1", {"A"}).status, 202);
  EXPECT_EQ(order("2", {"A"}, "another secret of a store").status, 401);
  EXPECT_EQ(send_raw({}, "POST", "/api/webhooks/generic/" + made_.string("id"), "[]",
                     providers::sample_order_headers(domain::Provider::generic, made_.string("secret"), "[]"))
                .status,
            400);
  const auto now = shown();
  EXPECT_EQ(now.string("lastOrderAt"), to_iso8601(world_.clock().now()));
  EXPECT_EQ(now.body.at("counts"),
            json::value({{"orders24h", 1}, {"deliveries", 0}, {"failed", 0}, {"unmappedProducts", 1}}));
  EXPECT_EQ(now.body.at("intake").at("accepted24h"), 2);
  const auto at = to_iso8601(world_.clock().now());
  EXPECT_EQ(
      now.body.at("intake").at("refused"),
      json::value({{{"code", "INVALID_PAYLOAD"}, {"count", 1}, {"lastAt", at}, {"mendedUntil", at}},
                   {{"code", "INVALID_SIGNATURE"}, {"count", 1}, {"lastAt", at}, {"mendedUntil", at}}}));
  EXPECT_EQ(now.body.at("intake").at("lastAcceptedAt"), json::value(at));
  world_.clock().advance(std::chrono::hours{25});
  EXPECT_EQ(shown().body.at("counts").at("orders24h"), 0);
  EXPECT_EQ(shown().body.at("intake").at("refused"), json::array());
}

TEST_F(StoresApi, WhatIsForNoStoreIsNotCounted) {
  const std::string nobody = "/api/webhooks/provider_a/" + made_.string("id");
  EXPECT_EQ(send_raw({}, "POST", nobody, "{}", {}).status, 404);
  EXPECT_EQ(shown().body.at("intake").at("refused"), json::array());
}

TEST_F(StoresApi, FailedDeliveriesAreCountedOfTheStoreAlone) {
  map({{"A", "f1"}});
  EXPECT_EQ(order("1", {"A"}).status, 202) << "fails: there is no cloud login";
  const auto other = add_integration();
  EXPECT_EQ(shown().body.at("counts").at("failed"), 1);
  EXPECT_EQ(shown().body.at("counts").at("deliveries"), 1);
  const auto list = send(me_, "GET", "/api/integrations");
  EXPECT_EQ(list.body.at("data").at(0).at("id"), other.body.at("id"));
  EXPECT_EQ(list.body.at("data").at(0).at("counts").at("failed"), 0);
  EXPECT_EQ(list.body.at("data").at(1).at("counts").at("failed"), 1);
}

TEST_F(StoresApi, ArchivedStoresAreListedWhereTheyAreAskedFor) {
  const auto other = add_integration();
  ASSERT_EQ(send(me_, "DELETE", store_).status, 204);
  EXPECT_EQ(send(me_, "GET", "/api/integrations").body.at("data").as_array().size(), 1U);
  const auto archived = send(me_, "GET", "/api/integrations?archived=true");
  ASSERT_EQ(archived.body.at("data").as_array().size(), 1U);
  EXPECT_EQ(archived.body.at("data").at(0).at("id"), made_.body.at("id"));
  EXPECT_TRUE(archived.body.at("data").at(0).at("archivedAt").is_string());
  EXPECT_EQ(send(stranger_, "GET", "/api/integrations?archived=true").body.at("data"), json::array());
  EXPECT_EQ(send(me_, "GET", "/api/integrations?archived=1").status, 422);
}

// ---------------------------------------------------------------- products

TEST_F(StoresApi, ProductsShowWhatOrdersHaveNamedAndWhatServesThem) {
  map({{"A", "f1"}});
  EXPECT_EQ(order("1", {"A", "B"}).status, 202);
  EXPECT_EQ(order("2", {"B"}).status, 202);
  const auto unmapped = products("?mapped=false");
  ASSERT_EQ(unmapped.body.at("data").as_array().size(), 1U) << unmapped.text;
  const auto& b = unmapped.body.at("data").at(0);
  EXPECT_EQ(b.at("sku"), "B");
  EXPECT_EQ(b.at("soldCount"), 2);
  EXPECT_EQ(b.at("skippedOrders"), 2);
  EXPECT_EQ(b.at("skippedOrdersExact"), true);
  EXPECT_TRUE(b.at("mappedBy").is_null());
  const auto mapped = products("?q=a&mapped=true");
  ASSERT_EQ(mapped.body.at("data").as_array().size(), 1U);
  EXPECT_EQ(mapped.body.at("data").at(0).at("mappedBy").at("matchType"), "sku");
  EXPECT_EQ(mapped.body.at("data").at(0).at("mappedBy").at("fileIds"), json::array({"f1"}));
  const auto first = products("?limit=1");
  EXPECT_EQ(first.body.at("data").as_array().size(), 1U);
  const auto second = products("?limit=1&cursor=" + first.string("nextCursor"));
  EXPECT_EQ(second.body.at("data").as_array().size(), 1U);
  EXPECT_TRUE(second.body.at("nextCursor").is_null());
  EXPECT_EQ(products("?mapped=yes").status, 422);
  EXPECT_EQ(products("?q=").status, 422);
}

// ---------------------------------------------------------------- previews

TEST_F(StoresApi, APreviewShowsWhatAnOrderWouldDeliverAndWritesNothing) {
  map({{"A", "f1"}});
  const auto preview = [&](json::object body) {
    return send(me_, "POST", store_ + "/mappings/preview", std::move(body));
  };
  const json::array items{json::object{{"sku", "A"}, {"quantity", 2}}, json::object{{"title", "None"}}};
  const auto saved = preview({{"order", {{"items", items}}}});
  ASSERT_EQ(saved.status, 200) << saved.text;
  EXPECT_EQ(saved.string("outcome"), "delivery");
  EXPECT_EQ(saved.body.at("credits"), 1);
  EXPECT_EQ(saved.body.at("lines").at(0).at("outcome"), "delivers");
  EXPECT_EQ(saved.body.at("lines").at(0).at("matchedBy"), "sku");
  EXPECT_EQ(saved.body.at("lines").at(1).at("outcome"), "unmapped");
  EXPECT_EQ(saved.body.at("files").at(0).at("quantity"), 2);

  const json::array wanted{json::object{{"matchType", "title"}, {"matchValue", "none"}, {"fileId", "f2"}},
                           json::object{{"matchType", "title"}, {"matchValue", "None "}, {"fileId", "f3"}},
                           json::object{{"matchType", "sku"}, {"matchValue", "A"}, {"action", "ignore"}}};
  const auto unsaved = preview({{"order", {{"items", items}}}, {"mappings", wanted}});
  ASSERT_EQ(unsaved.status, 200) << unsaved.text;
  EXPECT_EQ(unsaved.body.at("credits"), 2);
  EXPECT_EQ(unsaved.body.at("lines").at(0).at("outcome"), "ignored");
  EXPECT_EQ(unsaved.body.at("lines").at(1).at("fileIds"), json::array({"f2", "f3"}));
  EXPECT_EQ(send(me_, "GET", store_).body.at("mappingCount"), 1);

  EXPECT_EQ(preview({{"orderId", "none"}}).status, 404);
  EXPECT_EQ(preview({{"orderId", "1"}, {"order", {{"items", items}}}}).status, 422);
  EXPECT_EQ(preview({{"mappings", {json::object{{"matchType", "sku"}}}}}).status, 422);
}

TEST_F(StoresApi, APreviewCountsStoredOrdersThatASaveWouldServe) {
  map({{"A", "f1"}});
  for (const auto* id : {"1", "2", "3"}) EXPECT_EQ(order(id, {"B"}).status, 202);
  EXPECT_EQ(order("4", {"A"}).status, 202);
  EXPECT_EQ(order("5", {"A", "B"}).status, 202);
  EXPECT_EQ(order("6", {"C"}).status, 202);
  const auto with_b = json::array{json::object{{"matchType", "sku"}, {"matchValue", "A"}, {"fileId", "f1"}},
                                  json::object{{"matchType", "sku"}, {"matchValue", "B"}, {"fileId", "f2"}}};
  const auto now = send(me_, "POST", store_ + "/mappings/preview", json::object{});
  EXPECT_EQ(now.body.at("reprocessableOrders"), 0);
  EXPECT_EQ(now.body.at("lines"), json::array());
  const auto then =
      send(me_, "POST", store_ + "/mappings/preview", json::object{{"mappings", with_b}, {"orderId", "5"}});
  EXPECT_EQ(then.body.at("reprocessableOrders"), 4);
  EXPECT_EQ(then.body.at("reprocessableCredits"), 4);
  EXPECT_EQ(then.body.at("reprocessableOrdersExact"), true);
  EXPECT_EQ(then.body.at("credits"), 2);
  EXPECT_EQ(then.body.at("lines").as_array().size(), 2U);
}

// ---------------------------------------------------------------- tables

TEST_F(StoresApi, ATableOfMappingsComesBackAsItWent) {
  const std::string text =
      "\xEF\xBB\xBFmatchValue,matchType,fileId,action,fileName\n"
      "'=1+1,sku,f1,deliver,\"Warm, \"\"Clean\"\"\"\n"
      "'-12,sku,f2,,\n"
      "Gift card,title,,ignore,\n";
  const auto dry = import(text, "?dryRun=true");
  ASSERT_EQ(dry.status, 200) << dry.text;
  EXPECT_EQ(dry.body().at("added"), 3);
  EXPECT_EQ(dry.body().at("dryRun"), true);
  EXPECT_EQ(send(me_, "GET", store_).body.at("mappingCount"), 0);
  const auto saved = import(text);
  ASSERT_EQ(saved.status, 200) << saved.text;
  EXPECT_EQ(saved.body().at("added"), 3);
  const auto set = send(me_, "GET", store_ + "/mappings");
  EXPECT_EQ(set.body.at("mappings").at(0).at("matchValue"), "=1+1");
  EXPECT_EQ(set.body.at("mappings").at(0).at("fileName"), "Warm, \"Clean\"");
  EXPECT_EQ(set.body.at("version"), saved.body().at("version"));

  const auto out = table();
  EXPECT_TRUE(out.starts_with("matchType,matchValue,action,fileId,kind,fileName\r\n")) << out;
  EXPECT_TRUE(out.contains("sku,'=1+1,deliver,f1,")) << "a spreadsheet works nothing out: " << out;
  const auto same = import(out, "?dryRun=true");
  EXPECT_EQ(same.body().at("added"), 0) << same.text;
  EXPECT_EQ(same.body().at("changed"), 0);
  EXPECT_EQ(same.body().at("removed"), 0);
  EXPECT_EQ(import(out).status, 200);
  EXPECT_EQ(table(), out);
}

TEST_F(StoresApi, ATableShowsWhatItWouldChange) {
  map({{"A", "f1"}, {"B", "f2"}, {"C", "f3"}});
  const auto dry = import(
      "matchType,matchValue,fileId\n"
      "sku,A,f9\n"  // another file
      "sku,B,f2\n"
      "sku,D,f4\nsku,E,f5\n",
      "?dryRun=true");
  ASSERT_EQ(dry.status, 200) << dry.text;
  EXPECT_EQ(dry.body().at("added"), 2);
  EXPECT_EQ(dry.body().at("changed"), 1);
  EXPECT_EQ(dry.body().at("removed"), 1);
}

TEST_F(StoresApi, AnErrorInATableIsReportedByLineAndColumnAndNothingIsSaved) {
  map({{"A", "f1"}});
  std::string text = "matchType,matchValue,fileId\n";
  for (int line = 2; line < 4'000; ++line) text += fmt::format("sku,S-{},f1\n", line);
  text += "sku,\"S-4000\",\n";
  for (int line = 4'001; line < 4'500; ++line) text += fmt::format("sku,S-{},f1\n", line);
  const auto dry = import(text, "?dryRun=true");
  ASSERT_EQ(dry.status, 200) << dry.text;
  const json::object problem{{"line", 4'000}, {"column", "fileId"}, {"problem", "is required to deliver"}};
  EXPECT_EQ(dry.body().at("errors"), json::array({problem}));
  const auto refused = import(text);
  EXPECT_EQ(refused.status, 422);
  const json::object detail{{"field", "line 4000, column fileId"}, {"problem", "is required to deliver"}};
  EXPECT_EQ(refused.body().at("error").at("details"), json::array({detail}));
  EXPECT_EQ(send(me_, "GET", store_).body.at("mappingCount"), 1);
}

TEST_F(StoresApi, WhatIsNoTableOfMappingsIsReportedWithItsPlace) {
  const auto errors = [&](const std::string& text) {
    const auto dry = import(text, "?dryRun=true");
    EXPECT_EQ(dry.status, 200) << dry.text;
    std::string listed;
    for (const auto& error : dry.body().at("errors").as_array())
      listed += json::serialize(error.at("line")) + " " + json::serialize(error.at("column")) + " " +
                std::string(error.at("problem").as_string()) + "\n";
    return listed;
  };
  EXPECT_EQ(errors(""), "1 null is missing: the first line names the columns\n");
  EXPECT_EQ(errors("matchType\nsku\n"), "1 \"matchValue\" is missing from the first line\n");
  EXPECT_EQ(errors("matchType,matchValue,file\n"), "1 \"file\" is no column; is fileId meant?\n");
  EXPECT_EQ(errors("matchType,matchValue,colour\n"),
            "1 \"colour\" is no column; there are matchType, matchValue, action, fileId, kind, fileName\n");
  EXPECT_EQ(errors("matchType,matchValue,fileId\nsku,\"A,f1\n"), "2 \"2\" has no closing quote\n");
  EXPECT_EQ(errors("matchType,matchValue,fileId\nsku,A,f1,x\n"),
            "2 null has more fields than the first line has columns\n");
  EXPECT_EQ(errors("matchType,matchValue,fileId\nsku,A\xFF,f1\n"), "2 \"matchValue\" is not UTF-8\n");
  EXPECT_EQ(errors("matchType,matchValue,fileId\nsku,A,f1\n\nsku,A ,f1\n"),
            "4 \"matchValue\" says the same as line 2\n");
  EXPECT_EQ(errors("matchType;matchValue;fileId\nsku;A,1;f1\n"), "");
  std::string many = "matchType,matchValue,fileId\n";
  for (int i = 0; i < 5'001; ++i) many += fmt::format("sku,{},f\n", i);
  EXPECT_EQ(errors(many), "5002 null is beyond 5000 mappings, the most of a store\n");
  EXPECT_EQ(
      send_raw(me_, "POST", store_ + "/mappings.csv", "{}", {{"Content-Type", "application/json"}}).status,
      415);
  EXPECT_EQ(import("matchType,matchValue\n", "?dryRun=maybe").status, 422);
}

// ---------------------------------------------------------------- test orders

TEST_F(StoresApi, ATestOrderGoesTheWayOfTheStoresOwnAndIsADryRun) {
  for (const auto* provider : {"generic", "provider_a", "provider_b"}) {
    SCOPED_TRACE(provider);
    made_ =
        add_integration({{"name", "Store"},
                         {"provider", provider},
                         {"settings", json::object{{"requireApiKey", true}, {"deliverTestOrders", true}}}});
    store_ = "/api/integrations/" + made_.string("id");
    map({{"A", "f1"}});
    const auto sent = send(me_, "POST", store_ + "/test-order");
    ASSERT_EQ(sent.status, 202) << sent.text;
    EXPECT_EQ(sent.string("status"), "queued");
    const auto delivery = send(me_, "GET", "/api/deliveries/" + sent.string("deliveryId"));
    ASSERT_EQ(delivery.status, 200) << delivery.text;
    EXPECT_EQ(delivery.body.at("dryRun"), true);
    EXPECT_EQ(delivery.string("targetUsername"), "test_buyer");
    EXPECT_EQ(shown().body.at("counts").at("orders24h"), 0) << "the store has sent nothing";
    EXPECT_EQ(products().body.at("data"), json::array());
    EXPECT_NE(send(me_, "POST", store_ + "/test-order").string("deliveryId"), sent.string("deliveryId"));
  }
}

TEST_F(StoresApi, ATestOrderTakesAUsernameAndALine) {
  map({{"A", "f1"}, {"B", "f2"}});
  const auto sent = send(me_, "POST", store_ + "/test-order",
                         json::object{{"targetUsername", "me"}, {"item", json::object{{"sku", "B"}}}});
  ASSERT_EQ(sent.status, 202) << sent.text;
  const auto delivery = send(me_, "GET", "/api/deliveries/" + sent.string("deliveryId"));
  EXPECT_EQ(delivery.string("targetUsername"), "me");
  EXPECT_EQ(delivery.body.at("items").at(0).at("fileId"), "f2");
  const auto nothing =
      send(me_, "POST", store_ + "/test-order", json::object{{"item", json::object{{"sku", "none"}}}});
  EXPECT_EQ(nothing.string("reason"), "no_mapped_items");
  EXPECT_EQ(send(me_, "POST", store_ + "/test-order", json::object{{"item", json::object{}}}).status, 422);
  const std::string long_sku(256, 's');
  std::string long_in_bytes;
  for (int i = 0; i < 100; ++i) long_in_bytes += "漢";
  for (const auto& order :
       {json::object{{"targetUsername", "https://"}}, json::object{{"item", json::object{{"sku", long_sku}}}},
        json::object{{"item", json::object{{"productId", long_in_bytes}}}}}) {
    const auto refused = send(me_, "POST", store_ + "/test-order", order);
    EXPECT_EQ(refused.code(), "VALIDATION_FAILED") << refused.text;
  }
}

// ---------------------------------------------------------------- whose

TEST_F(StoresApi, AnothersStoreAndOneOutsideTheKeysScopeAreNotThere) {
  const auto other = add_integration();
  const auto scoped = key({integration_id(other)});
  for (const auto& by : {stranger_, scoped}) {
    EXPECT_EQ(send(by, "GET", store_ + "/products").status, 404);
    EXPECT_EQ(send(by, "POST", store_ + "/mappings/preview", json::object{}).status, 404);
    EXPECT_EQ(send(by, "POST", store_ + "/test-order").status, 404);
    EXPECT_EQ(send_raw(by, "GET", store_ + "/mappings.csv", "", {}).status, 404);
    EXPECT_EQ(send_raw(by, "POST", store_ + "/mappings.csv", "x", {{"Content-Type", "text/csv"}}).status,
              404);
  }
  ASSERT_EQ(send(me_, "DELETE", store_).status, 204);
  EXPECT_EQ(send(me_, "POST", store_ + "/test-order").status, 404);
  EXPECT_EQ(send(me_, "GET", store_ + "/products").status, 404);
}

}  // namespace
}  // namespace presetbridge::api::testing
