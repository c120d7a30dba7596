// Sign-up, sign-in, sessions and passwords over their routes.
#include "api/handlers/auth_handlers.h"

#include "api/api_testing.h"

namespace presetbridge::api {
namespace {

using testing::ApiTest;

TEST_F(ApiTest, PeopleSignUpSignInRefreshAndSignOut) {
  EXPECT_EQ(sign_up("ann@example.com").status, 201);
  EXPECT_EQ(sign_up("ann@example.com").code(), "EMAIL_TAKEN");
  const auto in =
      post("/api/auth/sign-in", {{"email", "ann@example.com"}, {"password", "correct horse battery"}});
  ASSERT_EQ(in.status, 200);
  EXPECT_EQ(in.header("Cache-Control"), "no-store");
  const auto wrong = post("/api/auth/sign-in", {{"email", "ann@example.com"}, {"password", "x"}});
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(wrong.code(), "INVALID_CREDENTIALS");
  const auto fresh = post("/api/auth/refresh", {{"refreshToken", in.string("refreshToken")}});
  ASSERT_EQ(fresh.status, 200);
  EXPECT_EQ(post("/api/auth/sign-out", {{"refreshToken", fresh.string("refreshToken")}}).status, 204);
  EXPECT_EQ(post("/api/auth/refresh", {{"refreshToken", fresh.string("refreshToken")}}).status, 401);
}

TEST_F(ApiTest, FiveWrongPasswordsLockTheSignInForAWhile) {
  ASSERT_EQ(sign_up("ann@example.com").status, 201);
  for (int i = 0; i < 5; ++i) post("/api/auth/sign-in", {{"email", "ann@example.com"}, {"password", "x"}});
  const auto locked = post("/api/auth/sign-in", {{"email", "ann@example.com"}, {"password", "x"}});
  EXPECT_EQ(locked.status, 429);
  EXPECT_EQ(locked.code(), "TOO_MANY_ATTEMPTS");
  EXPECT_EQ(locked.header("Retry-After"), "30");
}

TEST_F(ApiTest, ABrowsersSessionIsACookieAndAgesOutOfWhatShowsASecret) {
  const std::string origin = "https://bridge.example";
  const json::object login{{"email", "ann@example.com"}, {"password", "correct horse battery"}};
  auto wanted = login;
  wanted["session"] = "cookie";
  EXPECT_EQ(post("/api/auth/sign-up", wanted).code(), "CROSS_SITE_REQUEST");
  EXPECT_EQ(post("/api/auth/sign-up", wanted, {{"Origin", "https://evil.example"}}).code(),
            "CROSS_SITE_REQUEST");
  const auto ann = post("/api/auth/sign-up", wanted, {{"Origin", origin}});
  ASSERT_EQ(ann.status, 201) << ann.text;
  EXPECT_FALSE(ann.text.contains("pdb_refresh_"));
  const auto made = ann.header("Set-Cookie");
  EXPECT_TRUE(made.starts_with("__Host-pdb_session=pdb_refresh_")) << made;
  EXPECT_TRUE(made.ends_with("; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure")) << made;
  const HeaderMap page{{"Origin", origin}, {"Cookie", made.substr(0, made.find(';'))}};
  EXPECT_EQ(create_key(ann).status, 201);

  world_.clock().advance(std::chrono::minutes{10} + std::chrono::seconds{1});
  EXPECT_EQ(create_key(ann).code(), "STEP_UP_REQUIRED");
  EXPECT_EQ(create_key(ann).status, 403);
  EXPECT_EQ(create_key(ann, {{"nmae", 1}}).code(), "STEP_UP_REQUIRED") << "before the body is judged";
  EXPECT_EQ(send("GET", "/api/keys", bearer(ann)).status, 200);
  const auto refreshed = post("/api/auth/refresh", {{"session", "cookie"}}, page);
  ASSERT_EQ(refreshed.status, 200) << refreshed.text;
  EXPECT_EQ(create_key(refreshed).code(), "STEP_UP_REQUIRED") << "a refresh is no sign-in";
  EXPECT_EQ(create_key(post("/api/auth/sign-in", login)).status, 201) << "a program is not asked";
  auto confirming = bearer(refreshed);
  EXPECT_EQ(post("/api/auth/step-up", {{"password", "correct horse battery"}}, confirming).code(),
            "CROSS_SITE_REQUEST");
  confirming["Origin"] = origin;
  EXPECT_EQ(post("/api/auth/step-up", {{"password", "x"}}, confirming).code(), "INVALID_CREDENTIALS");
  const auto fresh = post("/api/auth/step-up", {{"password", "correct horse battery"}}, confirming);
  ASSERT_EQ(fresh.status, 200) << fresh.text;
  EXPECT_EQ(fresh.header("Set-Cookie"), "");
  EXPECT_EQ(create_key(fresh).status, 201);

  EXPECT_EQ(post("/api/auth/refresh", {{"session", "cookie"}, {"refreshToken", "x"}}, page).status, 422);
  EXPECT_EQ(post("/api/auth/refresh", {{"session", "cookie"}}, {{"Origin", origin}}).status, 401);
  const auto out = post("/api/auth/sign-out", {{"session", "cookie"}}, page);
  EXPECT_EQ(out.status, 204);
  EXPECT_TRUE(out.header("Set-Cookie").starts_with("__Host-pdb_session=; Path=/; Max-Age=0;"));
  EXPECT_EQ(send("GET", "/api/known", bearer(fresh)).code(), "UNAUTHORIZED") << "its ID tokens end with it";
}

TEST_F(ApiTest, WhatIsWrongWithASignUpIsReportedAllAtOnce) {
  const auto fields = [&](json::object body) {
    const auto refused = post("/api/auth/sign-up", std::move(body));
    EXPECT_EQ(refused.status, 422);
    std::vector<std::string> names;
    for (const auto& detail : refused.body.at("error").at("details").as_array())
      names.emplace_back(detail.at("field").as_string());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(fields({{"email", "nobody"}, {"password", "short"}}), (Names{"email", "password"}));
  EXPECT_EQ(fields({{"email", "nobody"}, {"accountName", 7}}), (Names{"password", "accountName", "email"}));
  EXPECT_EQ(fields({}), (Names{"email", "password"}));
}

TEST_F(ApiTest, APasswordIsChangedByItsOwnerOnly) {
  const auto ann = sign_up("ann@example.com");
  const json::value change = {{"currentPassword", "correct horse battery"},
                              {"newPassword", "another long one"}};
  EXPECT_EQ(post("/api/auth/password", change).status, 401);
  EXPECT_EQ(post("/api/auth/password", change, key(create_key(ann))).status, 403);
  EXPECT_EQ(post("/api/auth/password", change, bearer(ann)).status, 200);
  EXPECT_EQ(
      post("/api/auth/sign-in", {{"email", "ann@example.com"}, {"password", "another long one"}}).status,
      200);
}

TEST_F(ApiTest, AccountsShowWhoAsks) {
  const auto ann = sign_up("ann@example.com");
  const auto person = send("GET", "/api/account", bearer(ann));
  EXPECT_EQ(person.string("id"), ann.string("accountId"));
  EXPECT_EQ(person.string("name"), "ann");
  EXPECT_EQ(person.body.at("caller").at("role").as_string(), "owner");
  const auto issued = create_key(ann);
  EXPECT_EQ(send("GET", "/api/account", key(issued)).body.at("caller").at("keyId").as_string(),
            issued.string("id"));
  const auto audit = send("GET", "/api/account/audit", bearer(ann));
  ASSERT_EQ(audit.body.at("data").as_array().size(), 3U) << audit.text;
  EXPECT_EQ(audit.body.at("data").at(0).at("action").as_string(), "api_key.created");
}

}  // namespace
}  // namespace presetbridge::api
