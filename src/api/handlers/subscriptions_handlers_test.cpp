// Subscriptions, and the events that were sent to them, over their routes.
#include "api/handlers/subscriptions_handlers.h"

#include "api/handlers/merchant_handlers_testing.h"
#include "crypto/webhook_signature.h"
#include "storage/stores/dispatch_store.h"

namespace presetbridge::api::testing {
namespace {

TEST_F(MerchantApi, ASubscriptionIsMadeChangedTestedAndDeleted) {
  const auto made = send(
      me_, "POST", "/api/webhook-subscriptions",
      json::object{{"url", "https://shop.example/hook"}, {"eventTypes", json::array{"delivery.failed"}}});
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_TRUE(crypto::is_webhook_secret(made.string("secret")));
  const auto path = "/api/webhook-subscriptions/" + made.string("id");
  EXPECT_EQ(send(me_, "GET", path).text.find("whsec_"), std::string::npos);
  const auto tested = send(me_, "POST", path + "/test");
  EXPECT_EQ(tested.status, 202) << tested.text;
  EXPECT_EQ(tested.string("eventId").size(), 36U);
  const auto off = send(me_, "PATCH", path, json::object{{"active", false}});
  EXPECT_EQ(off.string("deactivatedReason"), "deactivated");
  EXPECT_EQ(send(me_, "POST", path + "/test").code(), "CONFLICT");
  EXPECT_TRUE(
      send(me_, "PATCH", path, json::object{{"active", true}}).body.at("deactivatedReason").is_null());
  const auto audited_before = audited().size();
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"active", true}}).status, 200);
  EXPECT_EQ(audited().size(), audited_before) << "nothing has changed";
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"secret", "x"}}).code(), "VALIDATION_FAILED");
  const auto plain = send(me_, "PATCH", path, json::object{{"url", "http://shop.example/"}});
  EXPECT_NE(plain.text.find("scheme is not https"), std::string::npos) << plain.text;
  const auto user = send(me_, "PATCH", path, json::object{{"url", "https://me:pw@shop.example/"}});
  EXPECT_NE(user.text.find("without user info"), std::string::npos) << user.text;
  const auto rotated = send(me_, "POST", path + "/rotate-secret", json::object{});
  EXPECT_NE(rotated.string("secret"), made.string("secret"));
  EXPECT_FALSE(rotated.body.at("previousSecretExpiresAt").is_null());
  EXPECT_EQ(send(me_, "GET", path + "/attempts").body.at("data").as_array().size(), 0U);
  EXPECT_EQ(send(me_, "PATCH", path, send(me_, "GET", path).body).status, 200) << "all as it is shown";
  EXPECT_EQ(send(stranger_, "GET", path).code(), "NOT_FOUND");
  EXPECT_EQ(send(stranger_, "DELETE", path).code(), "NOT_FOUND");
  EXPECT_EQ(send(me_, "DELETE", path).status, 204);
  EXPECT_EQ(send(me_, "GET", path).code(), "NOT_FOUND");
}

TEST_F(MerchantApi, ASubscriptionsSecretsStayUntilTheirOwnEndWhenItIsRotatedTwiceInTheOverlap) {
  const auto made =
      send(me_, "POST", "/api/webhook-subscriptions", json::object{{"url", "https://shop.example/"}});
  const auto path = "/api/webhook-subscriptions/" + made.string("id");
  const auto rotated = [&](json::object body) {
    return send(me_, "POST", path + "/rotate-secret", std::move(body));
  };
  const auto stored = [&] {
    std::vector<std::string> secrets;
    write([&](storage::Tx& tx) {
      secrets.clear();
      const auto row = find_subscription(tx, *parse_id<SubscriptionKind>(made.string("id"))).value();
      for (const auto* one :
           {&row.encrypted_secret, &row.encrypted_previous_secret, &row.encrypted_older_secret}) {
        if (one->empty()) continue;
        secrets.emplace_back(
            world_.cipher.decrypt({storage::kSubscriptionSecret, row.id.value}, *one)->reveal());
      }
    });
    return secrets;
  };
  const auto end = to_iso8601(world_.clock().now() + std::chrono::hours{24});
  const auto second = rotated({});
  world_.clock().advance(std::chrono::hours{1});
  const auto third = rotated({{"overlapSeconds", 3'600}});
  EXPECT_EQ(stored(), (std::vector{third.string("secret"), second.string("secret"), made.string("secret")}));
  EXPECT_EQ(third.string("previousSecretExpiresAt"), end) << "the last of both";

  const auto audited_before = audited().size();
  const auto again = rotated({{"secret", third.string("secret")}});
  EXPECT_EQ(again.body, third.body);
  EXPECT_EQ(audited().size(), audited_before);

  const auto fourth = rotated({});
  EXPECT_EQ(stored(), (std::vector{fourth.string("secret"), third.string("secret"), second.string("secret")}))
      << "the oldest one has ended";
  EXPECT_EQ(rotated({{"overlapSeconds", 0}, {"secret", fourth.string("secret")}}).status, 200);
  EXPECT_EQ(stored(), std::vector{fourth.string("secret")});
}

TEST_F(MerchantApi, ASubscriptionToAPrivateAddressOrUnknownEventIsRefused) {
  for (const auto* url :
       {"http://shop.example/", "https://127.0.0.1/", "https://10.0.0.1/", "ftp://x.example/", "nonsense"}) {
    EXPECT_EQ(send(me_, "POST", "/api/webhook-subscriptions", json::object{{"url", url}}).code(),
              "VALIDATION_FAILED")
        << url;
  }
  for (const json::object& extra :
       {json::object{{"eventTypes", json::array{"webhook.test"}}}, json::object{{"secret", "whsec_x"}},
        json::object{{"integrationIds", json::array{to_string(IntegrationId{5})}}}}) {
    json::object body{{"url", "https://shop.example/"}};
    for (const auto& member : extra) body[member.key()] = member.value();
    EXPECT_EQ(send(me_, "POST", "/api/webhook-subscriptions", body).code(), "VALIDATION_FAILED");
  }
}

TEST_F(MerchantApi, InTheSandboxPlainHttpGoesToThisMachineAlone) {
  services::Subscriptions sandbox{world_.async_db,
                                  world_.ids,
                                  world_.random,
                                  world_.cipher,
                                  net::AddressPolicy::sandbox_receivers,
                                  [] {}};
  const auto code = [&](std::string url) {
    const auto made = world_.await(sandbox.create(world_.scheduler, me_, {.url = std::move(url)}));
    return made ? "ok" : made.error().code + " " + made.error().details.at(0).field;
  };
  for (const char* url : {"http://127.0.0.1:9000/hook", "http://[::1]:9000/", "http://localhost:9000/",
                          "https://127.0.0.1/", "https://shop.example/"}) {
    EXPECT_EQ(code(url), "ok") << url;
  }
  for (const char* url : {"http://shop.example/", "http://localhost.shop.example/", "http://8.8.8.8/",
                          "http://10.0.0.1/", "https://10.0.0.1/"}) {
    EXPECT_EQ(code(url), "VALIDATION_FAILED url") << url;
  }
}

TEST_F(MerchantApi, WhatWasSentIsAskedForWithParametersThatAreChecked) {
  const json::object wanted{{"name", "My shop"}, {"url", "https://shop.example/"}};
  const auto made = send(me_, "POST", "/api/webhook-subscriptions", wanted);
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.string("name"), "My shop");
  const auto path = "/api/webhook-subscriptions/" + made.string("id");
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"name", "Yours"}}).string("name"), "Yours");
  for (const auto* const query : {"status=lost", "type=order.lost", "deliveryId=5", "createdFrom=today",
                                  "status=", "type=", "deliveryId=", "order=", "createdTo="}) {
    EXPECT_EQ(send(me_, "GET", path + "/events?" + query).code(), "VALIDATION_FAILED") << query;
  }
  const auto none = send(me_, "GET", path + "/events?status=waiting&type=credits.low&order=1");
  EXPECT_EQ(none.body, (json::object{{"data", json::array()}, {"nextCursor", nullptr}}));
  const auto test = send(me_, "POST", path + "/test");
  const auto event = path + "/events/" + test.string("eventId");
  const auto shown = send(me_, "GET", event);
  ASSERT_EQ(shown.status, 200) << shown.text;
  EXPECT_EQ(shown.string("status"), "waiting");
  EXPECT_EQ(json::parse(shown.string("body")).at("id"), json::value(test.string("eventId")));
  EXPECT_EQ(shown.body.at("headers").at("webhook-id"), json::value(test.string("eventId")));
  EXPECT_EQ(send(me_, "POST", event + "/resend").status, 202);
  EXPECT_EQ(send(me_, "GET", path + "/events/none").code(), "NOT_FOUND");
  EXPECT_EQ(send(me_, "POST", path + "/recover", json::object{}).code(), "VALIDATION_FAILED");
  const auto begun = send(me_, "POST", path + "/recover", json::object{{"since", "2026-01-01T00:00:00Z"}});
  EXPECT_EQ(begun.status, 202);
  EXPECT_EQ(begun.body, (json::object{{"total", 0}, {"totalIsExact", true}}));
  const auto planned =
      send(me_, "POST", path + "/recover", json::object{{"since", "2026-01-01T00:00:00Z"}, {"dryRun", true}});
  EXPECT_EQ(planned.status, 200);
  EXPECT_EQ(planned.body, begun.body);
}

TEST_F(MerchantApi, AnAccountSendsOnlySoManyTestsAndEventsAgainInAMinute) {
  const json::object wanted{{"url", "https://shop.example/"}};
  const auto path =
      "/api/webhook-subscriptions/" + send(me_, "POST", "/api/webhook-subscriptions", wanted).string("id");
  const auto event = path + "/events/" + send(me_, "POST", path + "/test").string("eventId");
  EXPECT_EQ(send(me_, "POST", event + "/resend").status, 202);
  EXPECT_EQ(send(me_, "POST", path + "/test").status, 202);
  EXPECT_EQ(send(key(), "POST", event + "/resend").status, 202);
  const auto rows = audited().size();
  for (const auto& target : {path + "/test", event + "/resend"}) {
    const auto late = send(me_, "POST", target);
    EXPECT_EQ(late.code(), "RATE_LIMIT_EXCEEDED") << target;
    EXPECT_EQ(late.status, 429);
    EXPECT_EQ(late.headers.get("Retry-After"), "15");
  }
  EXPECT_EQ(audited().size(), rows);
  const auto other = send(stranger_, "POST", "/api/webhook-subscriptions", wanted);
  EXPECT_EQ(send(stranger_, "POST", "/api/webhook-subscriptions/" + other.string("id") + "/test").status,
            202);
  world_.clock().advance(std::chrono::seconds{15});
  EXPECT_EQ(send(me_, "POST", path + "/test").status, 202);
}

TEST_F(MerchantApi, ASubscriptionShowsHowItsNewestAttemptsWent) {
  const auto made =
      send(me_, "POST", "/api/webhook-subscriptions", json::object{{"url", "https://shop.example/"}});
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at("health"), "unused");
  EXPECT_TRUE(made.body.at("lastAttemptAt").is_null());
  const auto id = *parse_id<SubscriptionKind>(made.string("id"));
  const auto attempt = [&](std::optional<std::int64_t> status_code, std::string_view outcome) {
    static constexpr storage::Sql kInsert{
        "INSERT INTO webhook_attempts (subscription_id, id, send_id, event_id, at, status_code, duration_ms, "
        "outcome, answer) VALUES ($1, $2, 1, 1, $3, $4, 5, $5, '')"};
    world_.clock().advance(std::chrono::minutes{1});
    write([&](storage::Tx& tx) { tx.exec(kInsert, id, world_.ids.next(), tx.now(), status_code, outcome); });
  };
  const auto health = [&] {
    const auto shown = send(me_, "GET", "/api/webhook-subscriptions/" + made.string("id")).body;
    EXPECT_EQ(send(me_, "GET", "/api/webhook-subscriptions").body.at("data").at(0), json::value(shown));
    return shown;
  };
  attempt(500, "http_error");
  attempt(200, "succeeded");
  const auto succeeded_at = to_iso8601(world_.clock().now());
  EXPECT_EQ(health().at("health"), "healthy");
  EXPECT_EQ(health().at("failuresInARow"), 0);
  EXPECT_EQ(health().at("lastStatusCode"), 200);
  for (int i = 0; i < 3; ++i) attempt(503, "http_error");
  attempt({}, "timeout");
  EXPECT_EQ(health().at("health"), "failing");
  EXPECT_EQ(health().at("failuresInARow"), 4);
  EXPECT_TRUE(health().at("lastStatusCode").is_null());
  EXPECT_EQ(health().at("lastOutcome"), "timeout");
  EXPECT_EQ(health().at("lastAttemptAt"), json::value(to_iso8601(world_.clock().now())));
  EXPECT_EQ(health().at("lastSuccessAt"), json::value(succeeded_at));
  EXPECT_EQ(health().at("recent").as_array().size(), 6U);
  EXPECT_EQ(health().at("p50Ms"), 5);
  for (int i = 0; i < 50; ++i) attempt({}, "timeout");
  EXPECT_EQ(health().at("failuresInARow"), 40);
  EXPECT_TRUE(health().at("lastSuccessAt").is_null()) << "further back than is looked";
}

TEST_F(MerchantApi, AScopedKeysSubscriptionsStayInsideItsScope) {
  const auto mine = integration_id(add_integration());
  const auto other = integration_id(add_integration());
  const auto scoped = key({mine});
  const json::object body{{"url", "https://shop.example/"}};
  const auto made = send(scoped, "POST", "/api/webhook-subscriptions", body);
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at("integrationIds"), json::array{to_string(mine)});
  const auto wide = send(me_, "POST", "/api/webhook-subscriptions", body);
  EXPECT_EQ(send(scoped, "GET", "/api/webhook-subscriptions/" + wide.string("id")).code(), "NOT_FOUND");
  EXPECT_EQ(send(scoped, "GET", "/api/webhook-subscriptions").body.at("data").as_array().size(), 1U);
  EXPECT_EQ(send(scoped, "PATCH", "/api/webhook-subscriptions/" + made.string("id"),
                 json::object{{"integrationIds", json::array{to_string(other)}}})
                .code(),
            "VALIDATION_FAILED");
  EXPECT_EQ(send(scoped, "PATCH", "/api/webhook-subscriptions/" + made.string("id"),
                 json::object{{"integrationIds", json::array{}}})
                .body.at("integrationIds"),
            json::array{to_string(mine)});
}

}  // namespace
}  // namespace presetbridge::api::testing
