// The API without sockets: requests in, answers out, over a real database.
#include "api/api.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/handlers/account_handlers.h"
#include "api/handlers/auth_handlers.h"
#include "api/handlers/buyer_handlers.h"
#include "api/handlers/keys_handlers.h"
#include "api/handlers/meta_handlers.h"
#include "api/handlers/pages_handlers.h"
#include "api/handlers/sessions_handlers.h"
#include "crypto/api_key.h"
#include "identity/testing.h"

namespace presetbridge::api {
namespace {

using HeaderMap = std::map<std::string, std::string>;

struct Answer {
  int status = 0;
  net::Headers headers;
  json::value body;
  std::string text;
  std::string code() const {
    const auto* error = body.is_object() ? body.get_object().if_contains("error") : nullptr;
    return error == nullptr ? "" : std::string(error->at("code").as_string());
  }
  std::string string(std::string_view field) const { return std::string(body.at(field).as_string()); }
  std::string header(std::string_view name) const { return std::string(headers.get(name).value_or("")); }
};

struct EchoDeps {
  int unused = 0;
};
struct SlowDeps {
  Scheduler& scheduler;
};
Task<Reply> answer_slowly(SlowDeps deps, Call) {
  co_await sleep_for(deps.scheduler, Millis{500});
  co_return json_response(200, json::object{});
}

Task<Reply> whoami(EchoDeps, Call call) {
  co_return json_response(200, json::object{{"account", to_string(call.principal.account)},
                                            {"actor", domain::to_string(call.principal.actor())},
                                            {"login", call.principal.may(Permission::login)}});
}

Task<Reply> fail_with(Error error, Call) {
  co_return std::unexpected(error);
}
Task<Reply> fall_over(EchoDeps, Call) {
  throw std::runtime_error("planted exception");
  co_return no_content();
}

class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    issuer_ = world_.issuer();
    if (auto started = world_.await(issuer_->start(world_.scheduler)); !started) throw started.error();
    tokens_ = std::make_unique<identity::TokenVerifier>(std::vector<identity::Issuer*>{issuer_.get()},
                                                        world_.clock());
    authentication_ = std::make_unique<Authentication>(*tokens_, accounts_, keys_, disabled_);
    add_auth_routes(
        router_,
        {*issuer_, {}, sign_ins_, failures_, SessionCookie("https://bridge.example"), keys_, disabled_});
    add_sessions_routes(router_, {issuer_->sessions()});
    add_keys_routes(router_, {keys_});
    add_account_routes(router_, {accounts_});
    add_about_routes(router_, {.version = "1.2.3", .commit = "abc"});
    add_pages_routes(router_, {.sandbox = sandbox_});
    add_health_routes(router_,
                      {.readiness = [this](Executor&) -> Task<Readiness> { return readiness(ready_); },
                       .metrics_text = {}});
    router_.add("GET", "/api/known", Access::anyone_known(), with(EchoDeps{}, whoami));
    router_.add("GET", "/api/slow", Access::anyone_known(), with(SlowDeps{world_.scheduler}, answer_slowly));
    router_.add("GET", "/api/reads", Access::needs(Permission::deliveries_read), with(EchoDeps{}, whoami));
    router_.add("GET", "/api/logins", Access::needs(Permission::login), with(EchoDeps{}, whoami));
    router_.add("GET", "/test/{secret}/known", Access::anyone_known(),
                with(Error{"RECORD_CORRUPT", "the table is broken", {}}, fail_with));
    router_.add("GET", "/test/{secret}/open", Access::open(),
                with(Error{"INTERNAL_ERROR", "the log cannot be read", {}}, fail_with));
    router_.add("GET", "/test/{secret}/storage", Access::open(),
                with(Error{"STORAGE_UNAVAILABLE", "The storage is not available.", {}}, fail_with));
    router_.add("GET", "/test/{secret}/throws", Access::open(), with(EchoDeps{}, fall_over));
    router_.add("GET", "/test/{secret}/busy", Access::open(),
                with(Error{"OVERLOADED", "The service is busy.", {}}, fail_with));
    api_ = std::make_unique<Api>(router_, *authentication_, failures_, world_.clock(), world_.log, metrics_);
  }
  static Task<Readiness> readiness(bool ready) {
    Readiness state{ready, {}};
    if (!ready) state.waiting_for.emplace_back("storage");
    co_return state;
  }

  Answer send(std::string method, std::string target, HeaderMap headers = {}, std::string body = {}) {
    net::HttpRequest request;
    request.id = "request-1";
    request.method = std::move(method);
    request.target = target;
    request.path = target.substr(0, target.find('?'));
    if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
    for (auto& [name, value] : headers) request.headers.add(name, value);
    request.body = std::move(body);
    request.remote_address = peer_;
    request.executor = &world_.scheduler;
    auto response = world_.await(api_->handle(std::move(request)));
    Answer answer{response.status, response.headers, nullptr, response.body};
    if (response.content_type == "application/json") answer.body = json::parse(response.body);
    return answer;
  }
  Answer post(std::string target, json::value body, HeaderMap headers = {}) {
    headers["Content-Type"] = "application/json";
    return send("POST", std::move(target), std::move(headers), json::serialize(body));
  }
  Answer sign_up(std::string email) {
    return post("/api/auth/sign-up", {{"email", email}, {"password", "correct horse battery"}});
  }
  static HeaderMap bearer(const Answer& tokens) {
    return {{"Authorization", "Bearer " + tokens.string("idToken")}};
  }
  Answer create_key(const Answer& owner, json::object body = {{"name", "Shop"}}) {
    return post("/api/keys", std::move(body), bearer(owner));
  }
  static HeaderMap key(const Answer& issued) { return {{"X-API-Key", issued.string("secret")}}; }
  Answer patch(const Answer& owner, std::string id, json::object body) {
    auto headers = bearer(owner);
    headers["Content-Type"] = "application/json";
    return send("PATCH", "/api/keys/" + id, headers, json::serialize(body));
  }

  identity::testing::World world_;
  NullMetrics metrics_;
  net::NetworkBudget failures_{world_.clock(), {}, {.failures = 300, .window = std::chrono::minutes{1}}};
  net::NetworkBudget sign_ins_{world_.clock(), {}, {.failures = 20, .window = std::chrono::hours{1}}};
  bool ready_ = true;
  bool sandbox_ = true;
  std::string peer_ = "127.0.0.1";
  std::unique_ptr<identity::BuiltInIssuer> issuer_;
  std::unique_ptr<identity::TokenVerifier> tokens_;
  services::Accounts accounts_{world_.async_db, world_.ids, identity::Signup::open};
  services::ApiKeys keys_{world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {}};
  services::DisabledAccounts disabled_{world_.async_db, world_.ids, world_.clock()};
  std::unique_ptr<Authentication> authentication_;
  Router router_;
  std::unique_ptr<Api> api_;
};

// ---------------------------------------------------------------- who may do what

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

// ---------------------------------------------------------------- the rate limit

TEST_F(ApiTest, AKeysHundredAndFirstRequestInAnHourIs429) {
  const auto ann = sign_up("ann@example.com");
  const auto issued = create_key(ann);
  for (int i = 0; i < 100; ++i) {
    const auto answer = send("GET", i % 2 == 0 ? "/api/known" : "/api/keys", key(issued));
    ASSERT_EQ(answer.status, i % 2 == 0 ? 200 : 403);
    ASSERT_EQ(answer.header("RateLimit-Limit"), "100");
    ASSERT_EQ(answer.header("RateLimit-Remaining"), std::to_string(99 - i));
    ASSERT_EQ(answer.header("RateLimit-Reset"), "3600");
    ASSERT_EQ(answer.header("Retry-After"), "");
  }
  world_.clock().advance(Millis{500});
  const auto refused = send("GET", "/api/known", key(issued));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code(), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(refused.body.at("error").at("message").as_string(), "Rate limit exceeded");
  EXPECT_EQ(refused.header("Retry-After"), "3600");
  EXPECT_EQ(refused.header("RateLimit-Remaining"), "0");
  EXPECT_EQ(send("GET", "/api/known", bearer(ann)).header("RateLimit-Limit"), "")
      << "people have no such limit";
  world_.clock().advance(Millis{3'599'499});
  EXPECT_EQ(send("GET", "/api/known", key(issued)).status, 429);
  world_.clock().advance(Millis{1});
  EXPECT_EQ(send("GET", "/api/known", key(issued)).status, 200);
}

TEST_F(ApiTest, TheHeadersOfARefusalThatIsRememberedCountDown) {
  const auto issued = create_key(sign_up("ann@example.com"));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(send("GET", "/api/known", key(issued)).status, 200);
  const auto units = world_.async_db.stats().units;
  for (const auto& [after, seconds] :
       {std::pair{Millis{500}, "3600"}, {Millis{499}, "3600"}, {Millis{1}, "3599"}, {Millis{499}, "3599"}}) {
    world_.clock().advance(after);
    const auto refused = send("GET", "/api/known", key(issued));
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.code(), "RATE_LIMIT_EXCEEDED");
    EXPECT_EQ(refused.header("RateLimit-Limit"), "100");
    EXPECT_EQ(refused.header("RateLimit-Remaining"), "0");
    EXPECT_EQ(refused.header("RateLimit-Reset"), seconds);
    EXPECT_EQ(refused.header("Retry-After"), seconds);
  }
  EXPECT_EQ(world_.async_db.stats().units - units, 2U) << "the first of them, and the count for the usage";
}

// ---------------------------------------------------------------- keys

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

// ---------------------------------------------------------------- sign-in

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

TEST_F(ApiTest, SignUpCountsTheAttemptsOfWhoStandsBehindATrustedProxy) {
  const auto issuer = world_.issuer(
      {.iss = "https://bridge.example", .signups = identity::SignUpLimits{.per_address = 1, .together = 4}});
  ASSERT_TRUE(world_.await(issuer->start(world_.scheduler)));
  Router router;
  add_auth_routes(router, {*issuer,
                           {*net::IpNetwork::parse("127.0.0.1")},
                           sign_ins_,
                           failures_,
                           SessionCookie("https://bridge.example"),
                           keys_,
                           disabled_});
  api_ = std::make_unique<Api>(router, *authentication_, failures_, world_.clock(), world_.log, metrics_);
  const auto status = [&](std::string email, std::string forwarded_for) {
    return post("/api/auth/sign-up", {{"email", email}, {"password", "correct horse battery"}},
                {{"X-Forwarded-For", forwarded_for}})
        .status;
  };
  EXPECT_EQ(status("a@example.com", "198.51.100.7"), 201);
  EXPECT_EQ(status("b@example.com", "198.51.100.7"), 429);
  EXPECT_EQ(status("b@example.com", "203.0.113.1, 198.51.100.7"), 429) << "the client's own words";
  EXPECT_EQ(status("b@example.com", "198.51.100.8"), 201);
  peer_ = "192.0.2.1";
  EXPECT_EQ(status("c@example.com", "198.51.100.9"), 201);
  EXPECT_EQ(status("d@example.com", "198.51.100.10"), 429) << "not a proxy of ours: it is the caller";
  api_.reset();  // before its router
}

// Spec 8.6.
TEST_F(ApiTest, AnAccountWithAllItsRequestsUnderWayHoldsUpNoOther) {
  const auto ann = sign_up("ann@example.com");
  const auto bob = sign_up("bob@example.com");
  std::vector<int> statuses;
  std::string retry_after;
  const auto begin = [&](const Answer& of) {
    net::HttpRequest request;
    request.method = "GET";
    request.target = request.path = "/api/slow";
    for (const auto& [name, value] : bearer(of)) request.headers.add(name, value);
    request.remote_address = peer_;
    request.executor = &world_.scheduler;
    spawn(api_->handle(std::move(request)), [&](auto outcome) {
      statuses.push_back(outcome.value->status);
      retry_after = outcome.value->headers.get("Retry-After").value_or("");
    });
  };
  for (int i = 0; i <= kMostRequestsOfAccount; ++i) begin(ann);
  world_.scheduler.run();
  EXPECT_EQ(statuses, std::vector{429});
  EXPECT_EQ(retry_after, "1");
  begin(bob);
  world_.scheduler.advance(std::chrono::seconds{1});
  EXPECT_EQ(std::ranges::count(statuses, 200), kMostRequestsOfAccount + 1);
  statuses.clear();
  begin(ann);
  world_.scheduler.advance(std::chrono::seconds{1});
  EXPECT_EQ(statuses, std::vector{200});
}

TEST_F(ApiTest, ANetworkWhoseSignInsFailIsHeardAgainLaterAndOthersAtOnce) {
  ASSERT_EQ(sign_up("ann@example.com").status, 201);
  const auto sign_in = [&](std::string peer, std::string email, std::string password) {
    peer_ = std::move(peer);
    return post("/api/auth/sign-in", {{"email", email}, {"password", password}});
  };
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(sign_in("198.51.100.9", "ann@example.com", "correct horse battery").status, 200)
        << "what succeeds costs nothing";
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(sign_in("198.51.100.7", "nobody-" + std::to_string(i) + "@example.com", "x").status, 401) << i;
  for (const char* email :
       {"ann@example.com", "nobody-1@example.com", "somebody@example.com", "no address"}) {
    const auto refused = sign_in("198.51.100.7", email, "correct horse battery");
    EXPECT_EQ(refused.status, 429) << "alike, whoever has an account";
    EXPECT_EQ(refused.code(), "RATE_LIMIT_EXCEEDED");
    EXPECT_EQ(refused.header("Retry-After"), "180");
  }
  EXPECT_EQ(sign_in("198.51.100.8", "ann@example.com", "correct horse battery").status, 200);
  world_.clock().advance(std::chrono::minutes{3});
  EXPECT_EQ(sign_in("198.51.100.7", "ann@example.com", "correct horse battery").status, 200);
}

TEST_F(ApiTest, ATryAtALockedAddressCountsForItsNetworkToo) {
  for (int i = 0; i < 20; ++i) {
    peer_ = "198.51.100.7";
    EXPECT_NE(post("/api/auth/sign-in", {{"email", "ann@example.com"}, {"password", "x"}}).code(),
              "RATE_LIMIT_EXCEEDED");
  }
  EXPECT_EQ(post("/api/auth/sign-in", {{"email", "ann@example.com"}, {"password", "x"}}).code(),
            "RATE_LIMIT_EXCEEDED");
}

TEST_F(ApiTest, ANetworkWithoutAValidTokenOrKeyIsHeardAgainLaterAndOthersAtOnce) {
  const auto ann = sign_up("ann@example.com");
  const auto good = key(create_key(ann, {{"name", "x"}, {"permissions", json::array{"deliveries:read"}}}));
  const auto refresh = [&] { return post("/api/auth/refresh", {{"refreshToken", "pdb_refresh_unknown"}}); };
  const auto sign_out = [&] { return post("/api/auth/sign-out", {{"refreshToken", "pdb_refresh_unknown"}}); };
  peer_ = "198.51.100.7";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(send("GET", "/api/known").status, 401);
  for (int i = 0; i < 150; ++i)
    EXPECT_EQ(send("GET", "/api/known", {{"x-api-key", crypto::generate_api_key(world_.random)}}).status,
              401);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(send("GET", "/api/known", {{"Authorization", "Bearer x"}}).status, 401);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(refresh().status, 401);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(sign_out().status, 204);
  for (const auto& refused : {send("GET", "/api/known", good), refresh(), sign_out()}) {
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.code(), "RATE_LIMIT_EXCEEDED");
    EXPECT_EQ(refused.header("Retry-After"), "1");
    EXPECT_EQ(refused.header("RateLimit-Limit"), "") << "it is not the key's limit";
  }
  EXPECT_EQ(send("GET", "/healthz").status, 200);
  world_.clock().advance(Millis{200});
  EXPECT_EQ(send("GET", "/api/known", good).status, 200);
  peer_ = "198.51.100.8";
  EXPECT_EQ(send("GET", "/api/known", good).status, 200);
}

TEST_F(ApiTest, OfABuyersRouteTheBudgetAndTheLinkComeBeforeTheContract) {
  services::DeliveryChanges changes(world_.ids, world_.random);
  services::BuyerLinks links(world_.async_db, world_.cipher, world_.ids, world_.random);
  ASSERT_TRUE(world_.await(links.start(world_.scheduler)));
  services::Buyers buyers(world_.async_db, links, changes, [] {});
  net::KeyBudget looks(world_.clock(), {.times = 1, .window = std::chrono::minutes{1}});
  services::BuyerChanges live({world_.scheduler, world_.async_db, world_.clock(), world_.log, metrics_});
  SharedSlots readers(1);
  add_buyer_routes(router_, {.buyers = buyers,
                             .failures = failures_,
                             .looks = looks,
                             .platform = {},
                             .live = {.changes = live, .readers = readers, .limits = {}}});
  const HeaderMap wrong{{"X-Buyer-Token", std::string(32, 'A')}, {"Content-Type", "application/json"}};
  const auto each = [&](int status) {
    EXPECT_EQ(send("GET", "/api/buyer?x=1", wrong).status, status);
    EXPECT_EQ(send("POST", "/api/buyer/retry", wrong, "{").status, status);
    EXPECT_EQ(send("POST", "/api/buyer/username?x=1", wrong, "{").status, status);
  };
  peer_ = "198.51.100.7";
  for (int i = 0; i < 100; ++i) each(404);
  each(429);
  api_.reset();  // before what its routes stand on
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

TEST_F(ApiTest, AccountsTellWhoAsks) {
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

// ---------------------------------------------------------------- manners

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

TEST(OperationsTest, TellsWhatContractAndRouterLackOfEachOther) {
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

TEST_F(ApiTest, TheReferenceIsKnownByItsTag) {
  for (const char* path : {"/docs", "/docs/style.css"}) {
    const auto plain = send("GET", path);
    EXPECT_EQ(plain.header("Content-Encoding"), "") << path;
    EXPECT_EQ(plain.header("Vary"), "Accept-Encoding") << path;
    const auto tag = plain.header("ETag");
    ASSERT_FALSE(tag.empty()) << path;
    const auto again = send("GET", path, {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.text, "") << path;
    EXPECT_EQ(again.header("Cache-Control"), "public, max-age=300") << path;
    EXPECT_EQ(send("GET", path, {{"If-None-Match", "\"another\""}}).status, 200) << path;
  }
}

TEST_F(ApiTest, TheReferenceIsSentCompressedToWhoTakesThat) {
  for (const char* path : {"/docs", "/docs/style.css"}) {
    const auto plain = send("GET", path);
    const auto packed = send("GET", path, {{"Accept-Encoding", "br, gzip"}});
    EXPECT_EQ(packed.header("Content-Encoding"), "gzip") << path;
    EXPECT_TRUE(packed.text.starts_with("\x1f\x8b")) << path;
    EXPECT_LT(packed.text.size(), plain.text.size() / 2) << path;
    EXPECT_NE(packed.header("ETag"), plain.header("ETag")) << path;
  }
}

TEST_F(ApiTest, TheReferenceNeedsNothingFromElsewhere) {
  for (const char* path : {"/docs", "/docs/style.css"}) {
    const auto page = send("GET", path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(
        page.header("Content-Security-Policy"),
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    EXPECT_EQ(page.header("X-Content-Type-Options"), "nosniff");
    EXPECT_FALSE(page.text.contains("<script")) << path;
    EXPECT_FALSE(page.text.contains("style=")) << path;
    EXPECT_EQ(page.text.contains(R"(<p class="notice">Sandbox)"),
              path != std::string_view("/docs/style.css"));
  }
  EXPECT_TRUE(send("GET", "/docs").text.contains(R"(<section class="operation" id="receiveOrder">)"));
  Router other;
  add_pages_routes(other, {.sandbox = false});
  api_ = std::make_unique<Api>(other, *authentication_, failures_, world_.clock(), world_.log, metrics_);
  EXPECT_FALSE(send("GET", "/docs").text.contains("class=\"notice\""));
  api_.reset();  // before its router
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
