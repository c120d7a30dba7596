// The whole API: its contract, the files that it serves, and its faults.
#include "api/api.h"

#include "api/api_testing.h"

namespace presetbridge::api {
namespace {

using testing::ApiTest;
using testing::EchoDeps;
using testing::whoami;

// ---------------------------------------------------------------- manners

TEST_F(ApiTest, TheServiceSpeaksOfItself) {
  EXPECT_EQ(send("GET", "/api/version").string("version"), "1.2.3");
  EXPECT_EQ(send("GET", "/healthz").status, 200);
  EXPECT_EQ(send("GET", "/readyz").status, 200);
  ready_ = false;
  const auto waiting = send("GET", "/readyz");
  EXPECT_EQ(waiting.status, 503);
  EXPECT_EQ(waiting.body.at("waitingFor").at(0).as_string(), "storage");
  EXPECT_EQ(send("GET", "/metrics").status, 404) << "no metrics were given";
  EXPECT_EQ(send("GET", "/.well-known/openid-configuration").string("issuer"), "https://bridge.example");
  EXPECT_EQ(send("GET", "/.well-known/jwks.json").body.at("keys").as_array().size(), 1U);
  EXPECT_EQ(send("GET", "/nowhere").code(), "NOT_FOUND");
}

TEST(OperationsTest, ReportsWhatContractAndRouterLackOfEachOther) {
  const Operations contract(R"({"paths":{"/a/{x}":{"get":{},"delete":{}},"/b":{"post":{}}}})");
  Router router;
  const auto add = [&router](const char* method, const char* pattern) {
    router.add(method, pattern, Access::open(), with(EchoDeps{}, whoami));
  };
  add("GET", "/a/{other}");
  add("POST", "/c");
  router.refuse("DELETE", "/a/{other}", "It is kept.");
  EXPECT_EQ(contract.differences(router),
            (std::vector<std::string>{"the contract lacks POST /c", "no route serves POST /b"}));
}

TEST_F(ApiTest, AFileOfTheDashboardIsServedWhereNoRouteIs) {
  constexpr std::array kFiles{WebFile{"/", "text/html; charset=utf-8", "aa", "the dashboard", "", ""}};
  const WebFiles web{kFiles, false};
  api_ =
      std::make_unique<Api>(router_, *authentication_, failures_, world_.clock(), world_.log, metrics_, &web);
  EXPECT_EQ(send("GET", "/").text, "the dashboard");
  EXPECT_EQ(send("HEAD", "/").status, 200);
  EXPECT_EQ(send("POST", "/").status, 404);
  EXPECT_EQ(send("GET", "/deliveries").status, 404) << "no page was asked for";
  EXPECT_EQ(send("GET", "/api/account").status, 401) << "a route of the API";
  EXPECT_EQ(send("GET", "/api/nowhere").code(), "NOT_FOUND");
}

TEST_F(ApiTest, AServiceThatIsNotItsContractDoesNotStart) {
  EXPECT_THROW(api_->require_contract(), std::logic_error) << "of the tests' own routes";
}

// ---------------------------------------------------------------- what goes wrong here

TEST_F(ApiTest, AFaultOfTheServiceIsLoggedWithItsRequestAndNothingThatTheClientSent) {
  const auto ann = sign_up("ann@example.com");
  auto headers = bearer(ann);
  world_.log.text.clear();
  const auto answer = send("GET", "/test/planted-secret/known?q=planted-secret", headers);
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.code(), "INTERNAL_ERROR");
  EXPECT_FALSE(answer.text.contains("table"));
  EXPECT_EQ(world_.log.text,
            "a request failed request_id=request-1 method=GET route=/test/{secret}/known account=" +
                ann.string("accountId") + " code=RECORD_CORRUPT error=the table is broken\n");

  for (const auto& [path, status, code, error] :
       std::vector<std::tuple<std::string, int, std::string, std::string>>{
           {"open", 500, "INTERNAL_ERROR", "the log cannot be read"},
           {"storage", 503, "STORAGE_UNAVAILABLE", "The storage is not available."},
           {"throws", 500, "INTERNAL_ERROR", "planted exception"}}) {
    world_.log.text.clear();
    EXPECT_EQ(send("GET", "/test/planted-secret/" + path).status, status);
    EXPECT_EQ(world_.log.text, "a request failed request_id=request-1 method=GET route=/test/{secret}/" +
                                   path + " account= code=" + code + " error=" + error + "\n");
  }
}

TEST_F(ApiTest, WhatIsNoFaultOfTheServiceIsNotLogged) {
  EXPECT_EQ(send("GET", "/test/x/busy").status, 503);
  EXPECT_EQ(send("GET", "/api/known").status, 401);
  EXPECT_EQ(send("GET", "/nowhere").status, 404);
  EXPECT_EQ(send("GET", "/api/keys/x").status, 401);
  EXPECT_EQ(world_.log.text, "");
}

TEST(ErrorsTest, InnerTextDoesNotLeak) {
  for (const char* code : {"SOME_INNER_CODE", "INTERNAL_ERROR"}) {
    const auto answer = error_response({code, "the table is broken", {{"table", "broken"}}});
    EXPECT_EQ(answer.status, 500);
    EXPECT_TRUE(answer.body.contains("INTERNAL_ERROR"));
    EXPECT_FALSE(answer.body.contains("table")) << code;
  }
  EXPECT_EQ(error_response({"OVERLOADED", "x", {}}).headers.get("Retry-After"), "1");
}

}  // namespace
}  // namespace presetbridge::api
