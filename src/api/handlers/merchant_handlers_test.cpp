// Stores, mappings, subscriptions, credits and deliveries over their routes.
#include <gtest/gtest.h>
#include <array>

#include "api/merchant_api_testing.h"
#include "crypto/webhook_signature.h"
#include "services/delivery/items.h"
#include "services/worker/account_tasks.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/send_store.h"

namespace presetbridge::api::testing {
namespace {

class MerchantApi : public MerchantApiTest {
 protected:
  std::vector<std::string> audited() {
    std::vector<std::string> actions;
    write([&](storage::Tx& tx) {
      for (const auto& row : list_audit(tx, account_, {.limit = 100}).rows) actions.push_back(row.action);
    });
    return actions;
  }
  // The secrets with which the store's orders may be signed now.
  std::vector<std::string> signing(const Answer& store) {
    const auto snapshot = world_.await(directory_.find(world_.scheduler, integration_id(store)));
    std::vector<std::string> secrets;
    for (const auto s : (*snapshot)->secrets(world_.clock().now())) secrets.emplace_back(s);
    return secrets;
  }
  Answer put_mappings(const std::string& integration, json::array mappings) {
    return send(me_, "PUT", "/api/integrations/" + integration + "/mappings",
                json::object{{"mappings", std::move(mappings)}});
  }
  // An order's delivery that failed with `code`.
  DeliveryId add_failed(IntegrationId integration, domain::ResolutionCode code,
                        const domain::OrderState& state = {}) {
    const auto id = world_.ids.make<DeliveryId>();
    write([&](storage::Tx& tx) {
      storage::DeliveryRow row;
      row.id = id;
      row.account = account_;
      row.integration = integration;
      row.order_key = "1001";
      row.username = row.raw_username = "buyer";
      row.created_at = row.updated_at = tx.now();
      insert_orders(tx, std::array{storage::OrderRow{.id = OrderId{id.value},
                                                     .account = account_,
                                                     .integration = integration,
                                                     .order_key = row.order_key,
                                                     .outcome = domain::OrderOutcome::delivery,
                                                     .state = encode(state),
                                                     .received_at = tx.now(),
                                                     .updated_at = tx.now(),
                                                     .summary = summarise(state)}});
      storage::ItemRow item;
      item.id = world_.ids.make<ItemId>();
      item.delivery = id;
      item.account = account_;
      item.file_id = "f1";
      item.matched_by = state.lines.empty() ? "file_id" : "sku";
      if (!state.lines.empty()) item.lines = services::lines_json({state.lines.front().line_id});
      services::DeliverySet set(tx, changes_);
      services::NewDeliveries created{{row}, {{.cause = domain::Cause::order_accepted}}, {item}, {""}, {}};
      changes_.create(set, created);
      set.apply(*set.delivery(id), {.cause = domain::Cause::known_cause, .code = code});
      set.save();
    });
    return id;
  }
};

TEST_F(MerchantApi, AStoreIsMadeWithASecretThatIsShownOnceAndSigns) {
  const auto made = add_integration(
      {{"name", " Store "}, {"provider", "provider_a"}, {"settings", json::object{{"hold", "all"}}}});
  ASSERT_EQ(made.status, 201) << made.text;
  const auto id = made.string("id");
  const auto secret = made.string("secret");
  EXPECT_EQ(secret.size(), 40U);
  EXPECT_EQ(made.string("webhookUrl"), "https://bridge.example/api/webhooks/provider_a/" + id);
  EXPECT_EQ(made.string("name"), "Store");
  const auto shown = send(me_, "GET", "/api/integrations/" + id);
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.text.find(secret), std::string::npos);
  EXPECT_EQ(shown.string("secretPreview"), "…" + secret.substr(36));
  EXPECT_EQ(shown.body.at("settings").at("hold"), "all");
  const auto snapshot = world_.await(directory_.find(world_.scheduler, integration_id(made)));
  EXPECT_EQ((*snapshot)->secrets(world_.clock().now()), std::vector<std::string_view>{secret});
}

TEST_F(MerchantApi, ARotatedSecretOverlapsAndTheDirectoryKnowsAtOnce) {
  const auto made = add_integration();
  const auto old_secret = made.string("secret");
  const auto path = "/api/integrations/" + made.string("id") + "/rotate-secret";
  const auto now_signing = [&] { return signing(made); };
  now_signing();
  const auto rotated = send(me_, "POST", path, json::object{});
  ASSERT_EQ(rotated.status, 200) << rotated.text;
  const auto new_secret = rotated.string("secret");
  EXPECT_EQ(now_signing(), (std::vector{new_secret, old_secret}));
  world_.clock().advance(std::chrono::hours{24});
  EXPECT_EQ(now_signing(), std::vector{new_secret});
  EXPECT_EQ(send(me_, "POST", path, json::object{{"overlapSeconds", 0}, {"secret", "dictated-by-the-store"}})
                .status,
            200);
  EXPECT_EQ(now_signing(), std::vector<std::string>{"dictated-by-the-store"});
  EXPECT_EQ(send(me_, "POST", path, json::object{{"secret", "short"}}).code(), "VALIDATION_FAILED");
}

TEST_F(MerchantApi, AStoresSecretThatIsStillInUseVerifiesAlsoAfterASecondRotationInTheOverlap) {
  const auto made = add_integration();
  const auto first = made.string("secret");
  const auto path = "/api/integrations/" + made.string("id") + "/rotate-secret";
  const auto rotated = [&](json::object body) { return send(me_, "POST", path, std::move(body)); };
  const auto end = to_iso8601(world_.clock().now() + std::chrono::hours{24});
  const auto second = rotated({});
  EXPECT_EQ(second.string("previousSecretExpiresAt"), end);
  world_.clock().advance(std::chrono::hours{1});
  const auto third = rotated({{"overlapSeconds", 3'600}});
  EXPECT_EQ(signing(made), (std::vector{third.string("secret"), second.string("secret"), first}));
  EXPECT_EQ(third.string("previousSecretExpiresAt"), end) << "the last of both";
  world_.clock().advance(std::chrono::hours{1});
  EXPECT_EQ(signing(made), (std::vector{third.string("secret"), first}));
  world_.clock().advance(std::chrono::hours{22});
  EXPECT_EQ(signing(made), std::vector{third.string("secret")});

  const auto fourth = rotated({});
  const auto fifth = rotated({});
  const auto sixth = rotated({});
  EXPECT_EQ(signing(made),
            (std::vector{sixth.string("secret"), fifth.string("secret"), fourth.string("secret")}))
      << "the oldest one has ended";
  const auto last = rotated({{"overlapSeconds", 0}});
  EXPECT_EQ(signing(made), std::vector{last.string("secret")});
  EXPECT_TRUE(last.body.at("previousSecretExpiresAt").is_null());
}

// Spec 2.2: a node of the version before the older secret clears only the previous one.
TEST_F(MerchantApi, ARotationOfAnOlderNodeThatEndsAllFormerSecretsEndsTheOlderOneToo) {
  const auto made = add_integration();
  const auto path = "/api/integrations/" + made.string("id");
  const auto rotated = [&] {
    return send(me_, "POST", path + "/rotate-secret", json::object{}).string("secret");
  };
  rotated();
  const auto third = rotated();
  ASSERT_EQ(signing(made).size(), 3U);
  write([&](storage::Tx& tx) {
    auto row = lock_integration(tx, integration_id(made)).value();
    row.encrypted_previous_secret.clear();
    row.previous_secret_expires_at.reset();
    update_integration(tx, row);
  });
  directory_.forget(integration_id(made));
  EXPECT_EQ(signing(made), std::vector{third});
  EXPECT_TRUE(send(me_, "GET", path).body.at("previousSecretExpiresAt").is_null());
  const auto fourth = rotated();
  EXPECT_EQ(signing(made), (std::vector{fourth, third})) << "the older one stays ended";
}

TEST_F(MerchantApi, ASecretThatIsTheStoresAlreadyChangesNothing) {
  const auto made = add_integration();
  const auto path = "/api/integrations/" + made.string("id");
  const json::object dictated{{"secret", "dictated-by-the-store"}};
  const auto rotated = send(me_, "POST", path + "/rotate-secret", dictated);
  const auto audited_before = audited().size();
  world_.clock().advance(std::chrono::hours{1});
  const auto again = send(me_, "POST", path + "/rotate-secret", dictated);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, rotated.body) << "no new version, and no later end of the overlap";
  EXPECT_EQ(audited().size(), audited_before);
  EXPECT_EQ(signing(made), (std::vector{std::string("dictated-by-the-store"), made.string("secret")}));
  auto at_once = dictated;
  at_once["overlapSeconds"] = 0;
  EXPECT_EQ(send(me_, "POST", path + "/rotate-secret", at_once).status, 200);
  EXPECT_EQ(signing(made), std::vector<std::string>{"dictated-by-the-store"});
}

// A shop may dictate a secret of any characters.
TEST_F(MerchantApi, ThePreviewOfASecretHasWholeCharacters) {
  const auto made =
      add_integration({{"name", "A"}, {"provider", "provider_b"}, {"secret", "a secret of umlauts äöüß€"}});
  ASSERT_EQ(made.status, 201) << made.text;
  const auto path = "/api/integrations/" + made.string("id");
  EXPECT_EQ(send(me_, "GET", path).string("secretPreview"), "…öüß€");
  const auto rotated =
      send(me_, "POST", path + "/rotate-secret", json::object{{"secret", "sixteen characters😀"}});
  ASSERT_EQ(rotated.status, 200) << rotated.text;
  EXPECT_EQ(send(me_, "GET", path).string("secretPreview"), "…ers😀");
}

TEST_F(MerchantApi, AStoreIsChangedListedAndArchived) {
  const auto path = "/api/integrations/" + add_integration().string("id");
  const auto second = add_integration({{"name", "B"}, {"provider", "provider_b"}});
  EXPECT_EQ(send(me_, "GET", "/api/integrations?limit=1").body.at("data").at(0).at("id").as_string(),
            second.string("id"));
  EXPECT_EQ(send(me_, "GET", "/api/integrations?provider=generic").body.at("data").as_array().size(), 1U);
  const auto changed = send(
      me_, "PATCH", path,
      json::object{{"name", "New"}, {"active", false}, {"settings", json::object{{"autoRevoke", true}}}});
  EXPECT_EQ(changed.string("name"), "New");
  EXPECT_FALSE(changed.body.at("active").as_bool());
  EXPECT_TRUE(changed.body.at("settings").at("autoRevoke").as_bool());
  EXPECT_EQ(send(me_, "GET", "/api/integrations?active=false").body.at("data").as_array().size(), 1U);
  const auto same = send(me_, "PATCH", path, json::object{{"name", "New"}, {"owningKeyId", nullptr}});
  EXPECT_EQ(same.body, changed.body) << "no new version";
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"owningKeyId", to_string(ApiKeyId{77})}}).code(),
            "VALIDATION_FAILED");
  const auto nulls = send(me_, "PATCH", path,
                          json::object{{"name", nullptr}, {"settings", json::object{{"hold", nullptr}}}});
  ASSERT_EQ(nulls.code(), "VALIDATION_FAILED");
  EXPECT_EQ(nulls.body.at("error").at("details").as_array().size(), 2U) << nulls.text;
  EXPECT_EQ(nulls.body.at("error").at("details").at(1).at("field"), "settings.hold");
  const auto fixed = send(me_, "PATCH", path, json::object{{"provider", "provider_b"}, {"secret", "x"}});
  EXPECT_EQ(fixed.body.at("error").at("details").as_array().size(), 2U) << fixed.text;
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"provider", "generic"}}).status, 200) << "what it is";
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"provider", nullptr}}).status, 422);
  EXPECT_EQ(send(me_, "PATCH", path, send(me_, "GET", path).body).status, 200) << "all as it is shown";
  const auto meant = send(me_, "PATCH", path, json::object{{"settings", json::object{{"autorevoke", true}}}});
  ASSERT_EQ(meant.status, 422) << meant.text;
  EXPECT_EQ(meant.body.at("error").at("details").at(0).at("field"), "settings.autorevoke");
  EXPECT_EQ(meant.body.at("error").at("details").at(0).at("problem"),
            "is not a field of this request; is autoRevoke meant?");
  EXPECT_EQ(send(me_, "DELETE", path).status, 204);
  EXPECT_EQ(send(me_, "GET", path).code(), "NOT_FOUND");
  EXPECT_EQ(send(me_, "DELETE", path).code(), "NOT_FOUND");
  EXPECT_EQ(audited(), (std::vector<std::string>{"integration.archived", "integration.deactivated",
                                                 "integration.created", "integration.created"}));
}

TEST_F(MerchantApi, AStoreIsOfItsProviderUnderEitherName) {
  struct Named {
    const char* sent;
    const char* provider;
    json::value platform;
  };
  for (const auto& [sent, provider, platform] :
       {Named{"shopify", "provider_a", "Shopify"}, Named{"provider_a", "provider_a", "Shopify"},
        Named{"woocommerce", "provider_b", "WooCommerce"}, Named{"provider_b", "provider_b", "WooCommerce"},
        Named{"generic", "generic", nullptr}}) {
    const auto made = add_integration({{"name", sent}, {"provider", sent}});
    ASSERT_EQ(made.status, 201) << made.text;
    EXPECT_EQ(made.string("provider"), provider);
    EXPECT_EQ(made.body.at("platform"), platform);
    const auto path = "/api/integrations/" + made.string("id");
    EXPECT_EQ(send(me_, "PATCH", path, json::object{{"provider", sent}}).status, 200) << "what it is";
    const auto listed =
        send(me_, "GET", std::string("/api/integrations?provider=") + sent).body.at("data").as_array();
    EXPECT_EQ(listed.at(0).at("id"), made.body.at("id"));
    for (const auto& one : listed) EXPECT_EQ(one.at("provider"), provider);
  }
  EXPECT_EQ(add_integration({{"name", "x"}, {"provider", "Shopify"}}).code(), "VALIDATION_FAILED");
  EXPECT_EQ(send(me_, "GET", "/api/integrations?provider=magento").code(), "VALIDATION_FAILED");
}

TEST_F(MerchantApi, OthersAndKeysOutOfScopeSeeNothing) {
  const auto made = add_integration();
  const auto other = integration_id(add_integration());
  const auto path = "/api/integrations/" + made.string("id");
  for (const auto& who : {stranger_, key({other})}) {
    EXPECT_EQ(send(who, "GET", path).code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "PATCH", path, json::object{{"name", "x"}}).code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "DELETE", path).code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "POST", path + "/rotate-secret", json::object{}).code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "GET", path + "/mappings").code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "PUT", path + "/mappings", json::object{{"mappings", json::array{}}}).code(),
              "NOT_FOUND");
  }
  EXPECT_EQ(send(key({other}), "GET", "/api/integrations").body.at("data").as_array().size(), 1U);
  EXPECT_EQ(
      send(key({other}), "POST", "/api/integrations", json::object{{"name", "x"}, {"provider", "generic"}})
          .code(),
      "FORBIDDEN");
  EXPECT_EQ(send(me_, "POST", "/api/integrations", json::object{{"provider", "other"}}).code(),
            "VALIDATION_FAILED");
}

TEST_F(MerchantApi, MappingsAreReplacedAsAWholeOrNotAtAll) {
  const auto id = add_integration().string("id");
  const json::object good{
      {"matchType", "title"}, {"matchValue", " Big  Amp "}, {"fileId", "f1"}, {"kind", "preset"}};
  const auto saved = put_mappings(
      id, {good, json::object{{"matchType", "sku"}, {"matchValue", "FEE"}, {"action", "ignore"}}});
  ASSERT_EQ(saved.status, 200) << saved.text;
  EXPECT_EQ(wakes_, 1);
  const auto bad = put_mappings(
      id, {good, json::object{{"matchType", "title"}, {"matchValue", "big amp"}, {"fileId", "f1"}}});
  EXPECT_EQ(bad.code(), "VALIDATION_FAILED");
  EXPECT_EQ(bad.body.at("error").at("details").at(0).at("field"), "mappings[1].matchValue");
  const auto worse = put_mappings(
      id, {json::object{{"matchType", "sku"}}, json::object{{"matchType", "x"}, {"matchValue", "A"}}});
  EXPECT_EQ(worse.body.at("error").at("details").as_array().size(), 4U) << worse.text;
  const auto kept = put_mappings(id, {good});
  EXPECT_EQ(kept.body.at("mappings").at(0).at("id"), saved.body.at("mappings").at(0).at("id"));
  EXPECT_EQ(send(me_, "PUT", "/api/integrations/" + id + "/mappings",
                 json::object{{"version", saved.body.at("version")}, {"mappings", json::array{}}})
                .code(),
            "CONFLICT");
  EXPECT_EQ(send(me_, "GET", "/api/integrations/" + id).body.at("mappingCount").as_int64(), 1);
}

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

TEST_F(MerchantApi, AnAccountSetsWhenItIsNotifiedOfFewCredits) {
  EXPECT_EQ(send(me_, "GET", "/api/credits").body.at("lowThreshold"), 10);
  EXPECT_EQ(send(me_, "PATCH", "/api/credits", json::object{{"lowThreshold", 3}}).body.at("lowThreshold"), 3);
  EXPECT_EQ(send(me_, "GET", "/api/credits").body.at("lowThreshold"), 3);
  EXPECT_EQ(
      send(me_, "PATCH", "/api/credits", json::object{{"lowThreshold", nullptr}}).body.at("lowThreshold"),
      10);
  for (const auto& bad :
       {json::object{}, json::object{{"lowThreshold", -1}}, json::object{{"lowThreshold", "3"}}})
    EXPECT_EQ(send(me_, "PATCH", "/api/credits", bad).code(), "VALIDATION_FAILED");
}

TEST_F(MerchantApi, ASubscriptionTellsHowItsNewestAttemptsWent) {
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

TEST_F(MerchantApi, GrantedCreditsAreInTheBalanceAndTheLedger) {
  ASSERT_TRUE(world_.await(credits_.grant(world_.scheduler, account_, 7, "welcome")));
  ASSERT_TRUE(world_.await(credits_.grant(world_.scheduler, account_, 3, "more")));
  EXPECT_EQ(wakes_, 2);
  const auto balance = send(me_, "GET", "/api/credits");
  EXPECT_EQ(balance.body.at("available").as_int64(), 10);
  EXPECT_EQ(balance.body.at("debt").as_int64(), 0);
  const auto page = send(me_, "GET", "/api/credits/ledger?limit=1");
  EXPECT_EQ(page.body.at("data").at(0).at("note"), "more");
  const auto rest = send(me_, "GET", "/api/credits/ledger?limit=1&cursor=" + page.string("nextCursor"));
  EXPECT_EQ(rest.body.at("data").at(0).at("credits").as_int64(), 7);
  EXPECT_TRUE(rest.body.at("nextCursor").is_null());
  EXPECT_EQ(send(me_, "GET", "/api/credits/ledger?kind=spend").body.at("data").as_array().size(), 0U);
  EXPECT_EQ(send(me_, "GET", "/api/credits/ledger?kind=other").code(), "VALIDATION_FAILED");
  EXPECT_EQ(world_.await(credits_.grant(world_.scheduler, account_, 0, "")).error().code,
            "VALIDATION_FAILED");
  EXPECT_EQ(world_.await(credits_.grant(world_.scheduler, AccountId{9}, 1, "")).error().code, "NOT_FOUND");
}

TEST_F(MerchantApi, ADeliveryIsShownListedAndActedOn) {
  const auto integration = integration_id(add_integration());
  const auto id = add_failed(integration, domain::ResolutionCode::username_not_found);
  const auto path = "/api/deliveries/" + to_string(id);
  const auto shown = send(me_, "GET", path);
  ASSERT_EQ(shown.status, 200) << shown.text;
  EXPECT_EQ(shown.string("resolutionCode"), "username_not_found");
  EXPECT_TRUE(shown.body.at("orderNumber").is_null()) << "its order tells none";
  EXPECT_EQ(shown.body.at("items").at(0).at("fileId"), "f1");
  EXPECT_FALSE(shown.body.at("timeline").as_array().empty());
  EXPECT_EQ(send(me_, "GET", "/api/deliveries?status=failed&orderId=1001").body.at("data").as_array().size(),
            1U);
  EXPECT_EQ(
      send(me_, "GET", "/api/deliveries?resolutionCode=cloud_rejected").body.at("data").as_array().size(),
      0U);
  std::string fifty_one = to_string(integration);
  for (int i = 0; i < 50; ++i) fifty_one += "," + to_string(integration);
  for (const auto& query :
       {std::string("status=lost"), std::string("status="), std::string("status=failed,"),
        std::string("resolutionCode="), std::string("integrationId="), "integrationId=" + fifty_one,
        std::string("orderId="), std::string("q="), "q=" + std::string(101, 'x'), std::string("fileId="),
        std::string("createdFrom="), std::string("updatedTo=2026-01-02T03:04:05"), std::string("dryRun="),
        std::string("sort=")}) {
    EXPECT_EQ(send(me_, "GET", "/api/deliveries?" + query).code(), "VALIDATION_FAILED") << query;
  }
  std::string hundred;
  for (int i = 0; i < 100; ++i) hundred += "漢";
  const auto counted = send(me_, "GET", "/api/deliveries?q=" + hundred);
  EXPECT_EQ(counted.status, 200) << counted.text;
  EXPECT_EQ(send(me_, "POST", path + "/retry", json::object{{"targetUsername", " @ "}}).code(),
            "VALIDATION_FAILED");
  EXPECT_EQ(send(me_, "POST", path + "/invalidate", json::object{{"reason", " "}}).code(),
            "VALIDATION_FAILED");
  EXPECT_EQ(send(me_, "POST", path + "/approve").code(), "INVALID_TRANSITION");
  EXPECT_EQ(send(me_, "POST", path + "/revoke").code(), "INVALID_TRANSITION");
  for (const auto& wrong :
       {json::object{{"itemIds", {"itm_1"}}}, json::object{{"username", "nobody"}},
        json::object{{"itemIds", {shown.body.at("items").at(0).at("id")}}, {"username", "a"}},
        json::object{{"itemIds", "all"}}}) {
    EXPECT_EQ(send(me_, "POST", path + "/revoke", wrong).code(), "VALIDATION_FAILED")
        << json::serialize(wrong);
  }
  // No login is stored, so a new attempt fails for that, under the new name.
  const auto retried = send(me_, "POST", path + "/retry", json::object{{"targetUsername", "@Right.Name"}});
  EXPECT_EQ(retried.status, 200) << retried.text;
  EXPECT_EQ(retried.string("targetUsername"), "Right.Name");
  EXPECT_EQ(retried.string("resolutionCode"), "credentials_missing");
  const auto reopened = send(me_, "POST", path + "/reopen");
  EXPECT_EQ(reopened.string("status"), "in_review");
  EXPECT_EQ(reopened.string("reviewReason"), "reopened");
  EXPECT_EQ(send(me_, "POST", path + "/complete").string("status"), "completed");
  EXPECT_EQ(send(me_, "POST", path + "/invalidate", json::object{{"reason", "fraud"}}).string("reason"),
            "fraud");
  for (const auto& who : {stranger_, key({IntegrationId{5}})}) {
    EXPECT_EQ(send(who, "GET", path).code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "POST", path + "/retry").code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "GET", "/api/deliveries").body.at("data").as_array().size(), 0U);
  }
}

TEST_F(MerchantApi, SavedMappingsResumeWhatFailedForWantOfAFileIfItOwesOtherFilesNow) {
  const auto made = add_integration();
  domain::OrderState state{.seen = true, .order_number = "#1001"};
  domain::OrderLine line;
  line.line_id = "1";
  line.sku = "A";
  state.lines = {line};
  const auto id = add_failed(integration_id(made), domain::ResolutionCode::preset_not_found, state);
  const auto resumes = [&](std::string file) {
    put_mappings(made.string("id"),
                 {json::object{{"matchType", "sku"}, {"matchValue", "A"}, {"fileId", file}}});
    write([&](storage::Tx& tx) {
      for (const auto& task : storage::find_account_tasks(tx, 10))
        services::do_account_task_batch(tx, changes_, task, {});
    });
    return send(me_, "GET", "/api/deliveries/" + to_string(id)).string("resolutionCode") !=
           "preset_not_found";
  };
  const auto shown = send(me_, "GET", "/api/deliveries/" + to_string(id));
  EXPECT_EQ(shown.string("orderNumber"), "#1001");
  EXPECT_EQ(send(me_, "GET", "/api/deliveries").body.at("data").at(0).at("orderNumber"), "#1001");
  EXPECT_FALSE(resumes("f1"));
  EXPECT_TRUE(resumes("f2"));
}

// spec 2.14.
TEST_F(MerchantApi, MoreMappingsOfOneKeyThanTheLimitAreRefusedAndTheFirstOnesNamed) {
  const auto id = add_integration().string("id");
  json::array mappings;
  const auto add = [&](std::string_view value, int count) {
    for (int i = 0; i < count; ++i) {
      mappings.push_back(json::object{
          {"matchType", "title"}, {"matchValue", value}, {"fileId", "f" + std::to_string(mappings.size())}});
    }
  };
  add("Warm  Clean", 60);
  add("warm clean ", 40);
  EXPECT_EQ(put_mappings(id, mappings).status, 200);
  add("WARM CLEAN", 2);
  add("Other", 101);
  const auto refused = put_mappings(id, mappings);
  ASSERT_EQ(refused.status, 422);
  EXPECT_EQ(refused.code(), "VALIDATION_FAILED");
  const auto& details = refused.body.at("error").at("details").as_array();
  ASSERT_EQ(details.size(), 2U) << refused.text;
  EXPECT_EQ(details[0].at("field"), "mappings[100].matchValue");
  EXPECT_EQ(details[0].at("problem"), "has more than 100 mappings");
  EXPECT_EQ(details[1].at("field"), "mappings[202].matchValue");
  EXPECT_EQ(send(me_, "GET", "/api/integrations/" + id).body.at("mappingCount"), 100);
}

TEST_F(MerchantApi, ASaveOfManyMappingsIsWholeAndKeepsTheIdsOfThoseThatWereThere) {
  const auto id = add_integration().string("id");
  const auto mappings = [](int count) {
    json::array all;
    for (int i = 0; i < count; ++i) {
      all.push_back(
          json::object{{"matchType", "sku"}, {"matchValue", "sku-" + std::to_string(i)}, {"fileId", "f1"}});
    }
    return all;
  };
  const auto first = put_mappings(id, mappings(1'300));
  ASSERT_EQ(first.status, 200) << first.text.substr(0, 300);
  EXPECT_EQ(first.body.at("mappings").as_array().size(), 1'300U);
  const auto shown = send(me_, "GET", "/api/integrations/" + id + "/mappings");
  EXPECT_EQ(shown.body, first.body);
  const auto fewer = put_mappings(id, mappings(2));
  EXPECT_EQ(fewer.body.at("mappings").at(1).at("id"), first.body.at("mappings").at(1).at("id"));
  EXPECT_EQ(fewer.body.at("version").as_int64(), first.body.at("version").as_int64() + 1);
  write([](storage::Tx& tx) {
    EXPECT_EQ(tx.one({"SELECT count(*) FROM mappings"}, [](const storage::Row& r) { return r.int64(0); }), 2);
  });
  const auto late = send(me_, "PUT", "/api/integrations/" + id + "/mappings",
                         json::object{{"version", first.body.at("version")}, {"mappings", mappings(1'300)}});
  EXPECT_EQ(late.code(), "CONFLICT");
}

// One that saves at the same time comes between two pieces of the other.
TEST_F(MerchantApi, ASaveThatFindsAnotherBeforeItsEndIsRefusedWholeWhereItNamedAVersion) {
  const auto made = add_integration();
  const auto id = integration_id(made);
  std::vector<services::WantedMapping> many(1'200);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].match_value = "sku-" + std::to_string(i);
    many[i].file_id = "f1";
  }
  const auto version = made.body.at("version").as_int64();
  std::optional<Expected<services::MappingSet>> slow;
  spawn(integrations_.replace_mappings(world_.scheduler, me_, id, version, many),
        [&](auto outcome) { slow = std::move(outcome.value); });
  // Its first piece is written by now, and it waits for its turn.
  const auto quick = world_.await(integrations_.replace_mappings(world_.scheduler, me_, id, std::nullopt,
                                                                 {{.match_value = "only", .file_id = "f2"}}));
  ASSERT_TRUE(quick);
  for (int i = 0; i < 100 && !slow; ++i) world_.scheduler.run();
  ASSERT_TRUE(slow);
  ASSERT_FALSE(*slow);
  EXPECT_EQ(slow->error().code, "CONFLICT");
  const auto left = world_.await(integrations_.mappings(world_.scheduler, me_, id));
  ASSERT_EQ(left->mappings.size(), 1U);
  EXPECT_EQ(left->mappings.front().match_value, "only");
}

}  // namespace
}  // namespace presetbridge::api::testing
