// Queries and bodies that do not fit the contract (spec 8.5).
#include <set>

#include "api/api_testing.h"

namespace presetbridge::api {
namespace {

using testing::ApiTest;
using testing::EchoDeps;
using testing::whoami;

TEST_F(ApiTest, AParameterGivenTwiceIsNamed) {
  const auto refused = send("GET", "/api/keys?limit=2&limit=3", bearer(sign_up("ann@example.com")));
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body.at("error").at("details").at(0).at("field"), "limit") << refused.text;
}

TEST_F(ApiTest, AParameterThatTheContractDoesNotHaveIsRefusedAndTheNearestNamed) {
  const auto problem = [](const Answer& refused) {
    EXPECT_EQ(refused.status, 422) << refused.text;
    EXPECT_EQ(refused.code(), "VALIDATION_FAILED");
    const auto& detail = refused.body.at("error").at("details").at(0);
    return std::string(detail.at("field").as_string()) + ' ' + std::string(detail.at("problem").as_string());
  };
  const auto ann = sign_up("ann@example.com");
  EXPECT_EQ(problem(send("GET", "/api/keys?limti=2", bearer(ann))),
            "limti is not a parameter of this request; is limit meant?");
  EXPECT_EQ(problem(send("HEAD", "/api/keys?colour=red", bearer(ann))),
            "colour is not a parameter of this request; it takes limit, cursor, active");
  EXPECT_EQ(problem(send("GET", "/api/account?x", bearer(ann))),
            "x is not a parameter of this request; it takes none");
  EXPECT_EQ(problem(send("GET", "/api/version?verbose=1")),
            "verbose is not a parameter of this request; it takes none");
  EXPECT_EQ(problem(send("POST", "/api/auth/sign-in?email=x", {{"Content-Type", "application/json"}}, "{}")),
            "email is not a parameter of this request; it takes none");
  EXPECT_EQ(send("GET", "/api/account?x").status, 401) << "what it takes is told to who may call it";
  EXPECT_EQ(send("GET", "/healthz?now=1").status, 200) << "probes say what they like";
  EXPECT_EQ(send("GET", "/.well-known/jwks.json?now=1").status, 200);
}

TEST_F(ApiTest, WhatIsWrongWithAQueryIsReportedAllAtOnce) {
  const auto ann = sign_up("ann@example.com");
  const auto refused = send("GET", "/api/keys?limit=0&cursor=x&active=maybe&colour=red", bearer(ann));
  EXPECT_EQ(refused.status, 422);
  std::set<std::string> fields;
  for (const auto& detail : refused.body.at("error").at("details").as_array())
    fields.emplace(detail.at("field").as_string());
  EXPECT_EQ(fields, (std::set<std::string>{"limit", "cursor", "active", "colour"})) << refused.text;
}

TEST_F(ApiTest, ABodyWhereThereIsNoneMustBeEmpty) {
  const auto headers = bearer(sign_up("ann@example.com"));
  const auto send_body = [&](std::string body) {
    return send("POST", "/api/credentials/validate", headers, body);
  };
  router_.add("POST", "/api/credentials/validate", Access::anyone_known(), with(EchoDeps{}, whoami));
  EXPECT_EQ(send_body("").status, 200);
  EXPECT_EQ(send_body("x").code(), "UNSUPPORTED_MEDIA_TYPE");
  auto json_headers = headers;
  json_headers["Content-Type"] = "application/json";
  EXPECT_EQ(send("POST", "/api/credentials/validate", json_headers, "{}").status, 200);
  const auto refused = send("POST", "/api/credentials/validate", json_headers, R"({"force":true})");
  EXPECT_EQ(refused.code(), "VALIDATION_FAILED");
  EXPECT_EQ(refused.body.at("error").at("details").at(0).at("field"), "force") << refused.text;
}

TEST_F(ApiTest, AFieldThatABodyDoesNotHaveIsRefusedAndTheNearestNamed) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(ann);
  const auto problem = [](const Answer& refused) {
    EXPECT_EQ(refused.status, 422) << refused.text;
    return refused.body.at("error").at("details").at(0).at("problem");
  };
  EXPECT_EQ(problem(create_key(ann, {{"name", "x"}, {"permisions", json::array{"login"}}})),
            "is not a field of this request; is permissions meant?");
  EXPECT_EQ(problem(patch(ann, issued.string("id"), {{"actve", false}})),
            "is not a field of this request; is active meant?");
  EXPECT_EQ(problem(post("/api/auth/sign-up", {{"email", "bob@example.com"},
                                               {"password", "correct horse battery"},
                                               {"acountName", "Bob"}})),
            "is not a field of this request; is accountName meant?");
  EXPECT_EQ(
      post("/api/auth/sign-in", {{"email", "bob@example.com"}, {"password", "correct horse battery"}}).status,
      401)
      << "nobody was signed up";
}

TEST_F(ApiTest, BodiesThatAreTooLargeOrNotJsonAreRefused) {
  const auto ann = sign_up("ann@example.com");
  auto headers = bearer(ann);
  EXPECT_EQ(send("POST", "/api/keys", headers, "{}").status, 415);
  headers["Content-Type"] = "application/json";
  EXPECT_EQ(send("POST", "/api/keys", headers, "{").status, 422);
  const auto problem = [&](const std::string& body) {
    const auto refused = send("POST", "/api/keys", headers, body);
    EXPECT_EQ(refused.status, 422) << refused.text;
    EXPECT_EQ(refused.body.at("error").at("details").at(0).at("field"), "body") << "as of an order";
    return std::string(refused.body.at("error").at("details").at(0).at("problem").as_string());
  };
  EXPECT_EQ(problem(R"({"name":x})"), "is not JSON: syntax error at byte 8");
  EXPECT_EQ(problem(R"({"name":"x"} {})"), "is not JSON: syntax error at byte 13");
  EXPECT_EQ(problem(R"({"name":"x")"), "is not JSON: syntax error at byte 11");
  EXPECT_EQ(problem(std::string(33, '[')), "must not be nested more than 32 deep");
  EXPECT_EQ(problem("[]"), "must be a JSON object");
  net::HttpRequest large;
  large.method = "POST";
  large.path = "/api/keys";
  large.body_too_large = true;
  large.executor = &world_.scheduler;
  EXPECT_EQ(world_.await(api_->handle(std::move(large))).status, 413);
}

}  // namespace
}  // namespace presetbridge::api
