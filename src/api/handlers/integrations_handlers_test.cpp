// Stores and their secrets over their routes.
#include "api/handlers/integrations_handlers.h"

#include "api/handlers/merchant_handlers_testing.h"

namespace presetbridge::api::testing {
namespace {

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

// The answer for one store, the list and the answer of a rotation agree.
TEST_F(MerchantApi, AStoreSaysWhetherItsSecretWasEntered) {
  const auto set_by = [](const json::value& store) {
    return std::string(store.at("secretSetBy").as_string());
  };
  const auto made = add_integration();
  const auto path = "/api/integrations/" + made.string("id");
  EXPECT_EQ(set_by(made.body), "service");
  EXPECT_EQ(set_by(send(me_, "GET", path).body), "service");

  const auto rotate = [&](json::object body) {
    return send(me_, "POST", path + "/rotate-secret", std::move(body));
  };
  EXPECT_EQ(set_by(rotate({{"secret", "dictated-by-the-store"}}).body), "merchant");
  EXPECT_EQ(set_by(send(me_, "GET", path).body), "merchant");
  EXPECT_EQ(set_by(send(me_, "GET", "/api/integrations").body.at("data").at(0)), "merchant");
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"secretSetBy", "service"}}).code(), "VALIDATION_FAILED");
  EXPECT_EQ(set_by(send(me_, "PATCH", path, json::object{{"secretSetBy", "merchant"}}).body), "merchant");
  EXPECT_EQ(set_by(rotate({}).body), "service");

  const auto entered =
      add_integration({{"name", "B"}, {"provider", "shopify"}, {"secret", std::string(64, 'a')}});
  EXPECT_EQ(set_by(entered.body), "merchant");
  EXPECT_EQ(set_by(rotate({{"secret", std::string(40, 'a')}}).body), "merchant") << "of the length of ours";
}

TEST_F(MerchantApi, AStoreSaysWhenItsSecretWasReplaced) {
  const auto made = add_integration();
  const auto path = "/api/integrations/" + made.string("id");
  EXPECT_TRUE(made.body.at("secretChangedAt").is_null());
  const auto rotate = [&](json::object body) {
    world_.clock().advance(std::chrono::minutes{1});
    return send(me_, "POST", path + "/rotate-secret", std::move(body));
  };
  const auto first = rotate({{"secret", "dictated-by-the-store"}}).string("secretChangedAt");
  EXPECT_EQ(first, to_iso8601(world_.clock().now()));
  EXPECT_EQ(send(me_, "GET", path).string("secretChangedAt"), first);
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"name", "Renamed"}}).string("secretChangedAt"), first);
  for (const int overlap : {3'600, 0}) {
    const auto same = rotate({{"secret", "dictated-by-the-store"}, {"overlapSeconds", overlap}});
    EXPECT_EQ(same.string("secretChangedAt"), first) << "it is no other secret";
    EXPECT_EQ(same.string("secretSetBy"), "merchant");
  }
  EXPECT_EQ(rotate({}).string("secretChangedAt"), to_iso8601(world_.clock().now()));
  EXPECT_EQ(send(me_, "PATCH", path, json::object{{"secretChangedAt", first}}).code(), "VALIDATION_FAILED");
}

// A node of the version before 0033 writes none of the columns that say who set the secret, and when.
TEST_F(MerchantApi, ASecretThatAnOlderNodeSetIsJudgedByItsLength) {
  const auto made =
      add_integration({{"name", "A"}, {"provider", "shopify"}, {"secret", std::string(40, 'a')}});
  const auto id = integration_id(made);
  const auto path = "/api/integrations/" + made.string("id");
  const auto rotate_there = [&](const std::string& secret) {
    write([&](storage::Tx& tx) {
      auto row = lock_integration(tx, id).value();
      row.encrypted_secret = world_.cipher.encrypt({storage::kStoreSecret, id.value}, secret);
      row.secret_preview = "…" + secret.substr(secret.size() - 4);
      update_integration(tx, row);
    });
    return send(me_, "GET", path);
  };
  ASSERT_EQ(made.string("secretSetBy"), "merchant");
  EXPECT_EQ(rotate_there(std::string(40, 'b')).string("secretSetBy"), "service");
  EXPECT_EQ(rotate_there(std::string(64, 'c')).string("secretSetBy"), "merchant");
  EXPECT_TRUE(send(me_, "GET", path).body.at("secretChangedAt").is_null());

  // Somebody who enters such a secret of an older node again says that it is the shop's.
  rotate_there(std::string(40, 'd'));
  const auto entered =
      send(me_, "POST", path + "/rotate-secret", json::object{{"secret", std::string(40, 'd')}});
  EXPECT_EQ(entered.string("secretSetBy"), "merchant");
  EXPECT_TRUE(entered.body.at("secretChangedAt").is_null());
  EXPECT_EQ(entered.body.at("previousSecretExpiresAt"),
            send(me_, "GET", path).body.at("previousSecretExpiresAt"));
  EXPECT_EQ(signing(made), std::vector{std::string(40, 'd')}) << "nothing was rotated";
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

}  // namespace
}  // namespace presetbridge::api::testing
