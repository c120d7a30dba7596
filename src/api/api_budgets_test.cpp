// Limits of keys, networks and accounts, which are checked before anything that costs more (spec 8.6).
#include "api/api_testing.h"
#include "api/handlers/buyer_handlers.h"
#include "crypto/api_key.h"

namespace presetbridge::api {
namespace {

using testing::ApiTest;

// ---------------------------------------------------------------- of a key

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

// ---------------------------------------------------------------- of networks and accounts

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
  services::Buyers buyers(world_.async_db, links, changes, 0, [] {});
  net::KeyBudget reads(world_.clock(), {.times = 1, .window = std::chrono::minutes{1}});
  services::BuyerChanges live({world_.scheduler, world_.async_db, world_.clock(), world_.log, metrics_});
  SharedSlots readers(1);
  add_buyer_routes(router_, {.buyers = buyers,
                             .failures = failures_,
                             .reads = reads,
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

}  // namespace
}  // namespace presetbridge::api
