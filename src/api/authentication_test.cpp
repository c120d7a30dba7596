// Tokens and keys: who may do what (spec 7).
#include "api/authentication.h"

#include "api/api_testing.h"
#include "crypto/api_key.h"

namespace presetbridge::api {
namespace {

using testing::ApiTest;

TEST_F(ApiTest, AMissingOrInvalidTokenOrKeyIs401) {
  const auto ann = sign_up("ann@example.com");
  ASSERT_EQ(ann.status, 201) << ann.text;
  const auto stranger = crypto::generate_api_key(world_.random);
  for (const HeaderMap& headers : {HeaderMap{},
                                   {{"Authorization", ""}},
                                   {{"Authorization", "Bearer "}},
                                   {{"Authorization", "Bearer x.y.z"}},
                                   {{"Authorization", ann.string("idToken")}},
                                   {{"Authorization", "Basic " + ann.string("idToken")}},
                                   {{"Authorization", "Bearer " + ann.string("refreshToken")}},
                                   {{"x-api-key", ""}},
                                   {{"x-api-key", "pdb_live_x"}},
                                   {{"x-api-key", stranger}}}) {
    const auto answer = send("GET", "/api/known", headers);
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(answer.code(), "UNAUTHORIZED");
  }
  const auto as_token = send("GET", "/api/known", {{"Authorization", "Bearer " + stranger}});
  EXPECT_EQ(as_token.code(), "UNAUTHORIZED");
  EXPECT_THAT(as_token.text, ::testing::HasSubstr("header x-api-key"));
  EXPECT_EQ(send("GET", "/api/known", bearer(ann)).status, 200);
  auto lower = bearer(ann);
  lower["Authorization"].replace(0, 6, "bearer");
  EXPECT_EQ(send("GET", "/api/known", lower).status, 200);
  world_.clock().advance(std::chrono::minutes{62});
  EXPECT_EQ(send("GET", "/api/known", bearer(ann)).code(), "UNAUTHORIZED");
}

TEST_F(ApiTest, AnInactiveKeyIs403) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(ann);
  ASSERT_EQ(issued.status, 201) << issued.text;
  EXPECT_EQ(send("GET", "/api/known", key(issued)).status, 200);
  EXPECT_EQ(patch(ann, issued.string("id"), {{"active", false}}).status, 200);
  const auto refused = send("GET", "/api/known", key(issued));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.code(), "FORBIDDEN");
}

TEST_F(ApiTest, AnExpiredKeyIs403) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(
      ann, {{"name", "Shop"}, {"expiresAt", to_iso8601(world_.clock().now() + std::chrono::minutes{1})}});
  EXPECT_EQ(send("GET", "/api/known", key(issued)).status, 200);
  world_.clock().advance(std::chrono::minutes{1});
  EXPECT_EQ(send("GET", "/api/known", key(issued)).code(), "FORBIDDEN");
}

TEST_F(ApiTest, AKeyOpensWhatItsPermissionsNameAndNothingOfThePersons) {
  const auto ann = sign_up("ann@example.com");
  const auto plain = create_key(ann);
  const auto login = create_key(ann, {{"name", "Login"}, {"permissions", json::array{"login"}}});
  EXPECT_EQ(send("GET", "/api/reads", key(plain)).status, 200);
  EXPECT_EQ(send("GET", "/api/logins", key(plain)).code(), "FORBIDDEN");
  EXPECT_EQ(send("GET", "/api/reads", key(login)).status, 403);
  EXPECT_EQ(send("GET", "/api/logins", key(login)).status, 200);
  for (const char* path : {"/api/keys", "/api/account/audit"}) {
    EXPECT_EQ(send("GET", path, key(plain)).status, 403) << path;
    EXPECT_EQ(send("GET", path, bearer(ann)).status, 200) << path;
  }
  EXPECT_EQ(send("GET", "/api/known", key(plain)).string("actor"), plain.string("id"));
}

TEST_F(ApiTest, TokenAndKeyTogetherMustBothBeValidAndOfOneAccountAndTheLesserRightsHold) {
  const auto ann = sign_up("ann@example.com");
  const auto bob = sign_up("bob@example.com");
  const auto issued = create_key(ann);
  auto both = bearer(ann);
  both.merge(key(issued));
  const auto answer = send("GET", "/api/reads", both);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.string("actor"), ann.body.at("user").at("id").as_string());
  EXPECT_FALSE(answer.body.at("login").as_bool());
  EXPECT_EQ(send("GET", "/api/logins", both).status, 403);
  EXPECT_EQ(send("GET", "/api/keys", both).status, 403) << "the key may not, so the pair may not";

  auto two_accounts = bearer(bob);
  two_accounts.merge(key(issued));
  EXPECT_EQ(send("GET", "/api/known", two_accounts).code(), "FORBIDDEN");
  auto bad_token = key(issued);
  bad_token["Authorization"] = "Bearer x.y.z";
  EXPECT_EQ(send("GET", "/api/known", bad_token).status, 401);
  auto bad_key = bearer(ann);
  bad_key["x-api-key"] = "pdb_live_x";
  EXPECT_EQ(send("GET", "/api/known", bad_key).status, 401);
}

TEST_F(ApiTest, AnotherTenantsKeyIs404) {
  const auto ann = sign_up("ann@example.com");
  const auto bob = sign_up("bob@example.com");
  const auto issued = create_key(ann);
  const auto path = "/api/keys/" + issued.string("id");
  EXPECT_EQ(send("GET", path, bearer(ann)).status, 200);
  EXPECT_EQ(send("GET", path, bearer(bob)).code(), "NOT_FOUND");
  EXPECT_EQ(patch(bob, issued.string("id"), {{"active", false}}).status, 404);
  EXPECT_EQ(send("GET", "/api/keys/not-an-id", bearer(ann)).status, 404);
}

}  // namespace
}  // namespace presetbridge::api
