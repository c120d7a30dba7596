// Keys over their routes.
#include "api/handlers/keys_handlers.h"

#include "api/api_testing.h"

namespace presetbridge::api {
namespace {

using testing::ApiTest;

TEST_F(ApiTest, AKeysSecretIsShownOnceAndMaskedAfterwards) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(ann);
  const auto secret = issued.string("secret");
  EXPECT_EQ(issued.header("Cache-Control"), "no-store");
  EXPECT_EQ(issued.string("preview"), "pdb_live_…" + secret.substr(secret.size() - 4));
  for (const auto& path : {std::string("/api/keys"), "/api/keys/" + issued.string("id")}) {
    EXPECT_FALSE(send("GET", path, bearer(ann)).text.contains(secret.substr(0, 20))) << path;
  }
}

TEST_F(ApiTest, AKeyIsNeverDeleted) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(ann);
  const auto refused = send("DELETE", "/api/keys/" + issued.string("id"), bearer(ann));
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.code(), "METHOD_NOT_ALLOWED");
  EXPECT_TRUE(refused.text.contains("never deleted"));
  EXPECT_EQ(send("GET", "/api/known", key(issued)).status, 200);
}

TEST_F(ApiTest, AKeyIsRotatedWithAnOverlap) {
  const auto ann = sign_up("ann@example.com");
  const auto old = create_key(ann);
  const auto fresh = post("/api/keys/" + old.string("id") + "/rotate", {{"overlapSeconds", 60}}, bearer(ann));
  ASSERT_EQ(fresh.status, 201) << fresh.text;
  EXPECT_EQ(fresh.string("rotatedFrom"), old.string("id"));
  EXPECT_EQ(send("GET", "/api/known", key(old)).status, 200);
  world_.clock().advance(std::chrono::seconds{60});
  EXPECT_EQ(send("GET", "/api/known", key(old)).status, 403);
  EXPECT_EQ(send("GET", "/api/known", key(fresh)).status, 200);
  EXPECT_EQ(send("POST", "/api/keys/" + fresh.string("id") + "/rotate", bearer(ann)).status, 201)
      << "it needs no body";
}

TEST_F(ApiTest, WhatAPatchDoesNotChangeIsRefusedAndNotIgnored) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(ann);
  const auto refused =
      patch(ann, issued.string("id"),
            {{"name", "New"}, {"expiresAt", "2030-01-01T00:00:00.000Z"}, {"rateLimit", 1'000}});
  ASSERT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(refused.body.at("error").at("details").at(0).at("field"), "expiresAt");
  EXPECT_EQ(refused.body.at("error").at("details").at(1).at("field"), "rateLimit");
  EXPECT_EQ(patch(ann, issued.string("id"), {{"secret", "pdb_live_1"}}).status, 422);
  const auto shown = send("GET", "/api/keys/" + issued.string("id"), bearer(ann));
  EXPECT_EQ(shown.string("name"), "Shop");
  EXPECT_EQ(patch(ann, issued.string("id"), shown.body.as_object()).status, 200) << "what it is already";
}

TEST_F(ApiTest, WhatAKeyShowsAndAPatchDoesNotChangeIsRefusedUnlessItIsTheSame) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(ann);
  for (const char* name : {"id", "preview", "createdAt", "rotatedFrom", "expiresAt", "rateLimit"}) {
    const auto refused = patch(ann, issued.string("id"), {{name, "bogus"}});
    ASSERT_EQ(refused.status, 422) << name;
    EXPECT_EQ(refused.body.at("error").at("details").at(0).at("field"), json::string(name));
  }
  for (const char* name : {"requests", "deliveries", "lastActiveAt"})
    EXPECT_EQ(patch(ann, issued.string("id"), {{name, 9}}).status, 200) << name;
  EXPECT_EQ(patch(ann, issued.string("id"), {{"expireAt", nullptr}})
                .body.at("error")
                .at("details")
                .at(0)
                .at("problem"),
            "is not a field of this request; it takes name, active, permissions, integrationIds");
}

TEST_F(ApiTest, WhatIsWrongWithAKeyIsReportedAllAtOnce) {
  const auto ann = sign_up("ann@example.com");
  const auto refused =
      create_key(ann, {{"name", " "}, {"permissions", json::array{"account", "login"}}, {"expiresAt", 7}});
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body.at("error").at("details").as_array().size(), 3U) << refused.text;
  const auto bogus = create_key(ann, {{"name", "x"}, {"permissions", json::array{"bogus"}}});
  ASSERT_EQ(bogus.body.at("error").at("details").as_array().size(), 1U) << bogus.text;
  EXPECT_EQ(bogus.body.at("error").at("details").at(0).at("field"), "permissions[0]");
  EXPECT_EQ(create_key(ann, {{"name", "x"}, {"expiresAt", "2020-01-01T00:00:00Z"}}).status, 422);
  EXPECT_EQ(create_key(ann, {{"name", "x"}, {"permissions", json::array{}}}).status, 422);
}

TEST_F(ApiTest, WhatANewKeyDoesNotTakeIsRefusedAndNotIgnored) {
  const auto ann = sign_up("ann@example.com");
  const auto refused = create_key(ann, {{"name", "x"}, {"rateLimit", 5'000}, {"active", false}});
  ASSERT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(refused.body.at("error").at("details").at(0).at("field"), "rateLimit");
  EXPECT_EQ(refused.body.at("error").at("details").at(1).at("field"), "active");
  EXPECT_EQ(create_key(ann, {{"name", "x"}, {"active", true}}).status, 422);
  EXPECT_EQ(create_key(ann, {{"name", "x"}, {"rateLimit", nullptr}}).status, 422);
  EXPECT_EQ(create_key(ann, {{"name", "x"}, {"expiresAt", nullptr}}).status, 201);
}

TEST_F(ApiTest, KeysArePaged) {
  const auto ann = sign_up("ann@example.com");
  for (int i = 0; i < 3; ++i) create_key(ann);
  const auto first = send("GET", "/api/keys?limit=2", bearer(ann));
  ASSERT_EQ(first.body.at("data").as_array().size(), 2U);
  const auto second = send("GET", "/api/keys?limit=2&cursor=" + first.string("nextCursor"), bearer(ann));
  EXPECT_EQ(second.body.at("data").as_array().size(), 1U);
  EXPECT_TRUE(second.body.at("nextCursor").is_null());
  for (const char* query : {"?limit=0", "?limit=2&limit=3", "?cursor=x", "?active=maybe", "?limit=%zz"}) {
    EXPECT_EQ(send("GET", std::string("/api/keys") + query, bearer(ann)).status, 422) << query;
  }
}

}  // namespace
}  // namespace presetbridge::api
