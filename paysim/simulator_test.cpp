#include "simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/testing.h"

namespace presetbridge::paysim {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

// Takes every event.
class TakingEndpoint final : public net::HttpClient {
 public:
  Task<net::HttpResult> send(Executor&, net::OutgoingRequest request) override {
    types.emplace_back(json::parse(request.body).at("type").as_string());
    for (const auto& [name, value] : request.headers) {
      if (name == "Stripe-Signature") signatures.push_back(value);
    }
    co_return net::HttpResult{.outcome = net::HttpAnswer{.status = 200, .headers = {}, .body = {}}};
  }
  std::vector<std::string> types;
  std::vector<std::string> signatures;
};

class OverHttp : public ::testing::Test {
 protected:
  ~OverHttp() override {
    simulator.stop([] {});
    scheduler.run();
  }
  static SimulatorOptions options() {
    SimulatorOptions result;
    result.api_version = "2026-10-28.endive";
    result.webhooks.url = "http://127.0.0.1:1/hook";
    result.webhooks.secrets = {"whsec_1"};
    return result;
  }
  static constexpr const char* order =
      "mode=payment&success_url=http://127.0.0.1/&line_items[0][quantity]=2&"
      "line_items[0][price_data][currency]=USD&line_items[0][price_data][unit_amount]=300&"
      "line_items[0][price_data][product_data][name]=x";

  // Begins the call; its answer is there once the scheduler came to it.
  std::shared_ptr<std::optional<net::HttpResponse>> begin(const std::string& method,
                                                          const std::string& target,
                                                          const std::string& body = "",
                                                          const std::string& idempotency_key = "",
                                                          const std::string& key = "sk_test_x") {
    net::HttpRequest request;
    request.method = method;
    request.target = target;
    request.path = target.substr(0, target.find('?'));
    if (target.contains('?')) request.query = target.substr(target.find('?') + 1);
    request.headers.add("Authorization", "Bearer " + key);
    if (!idempotency_key.empty()) request.headers.add("Idempotency-Key", idempotency_key);
    request.body = body;
    auto answer = std::make_shared<std::optional<net::HttpResponse>>();
    spawn(simulator.handle(std::move(request)), [answer](Outcome<net::HttpResponse> outcome) {
      if (!outcome.exception) *answer = std::move(*outcome.value);
    });
    scheduler.run();
    return answer;
  }
  template <class... Args>
  net::HttpResponse call(const Args&... args) {
    return begin(args...)->value();
  }
  template <class... Args>
  json::value ok(const Args&... args) {
    const auto answer = call(args...);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }
  std::size_t sessions() { return simulator.world().sessions().size(); }

  presetbridge::testing::ManualClock clock;
  presetbridge::testing::VirtualScheduler scheduler{clock};
  presetbridge::testing::SeededRandom random;
  TakingEndpoint endpoint;
  NullLog log;
  Simulator simulator{scheduler, clock, random, endpoint, log, options()};
};

TEST_F(OverHttp, ASessionExpiresWithoutAnyCall) {
  const auto made = ok("POST", "/v1/checkout/sessions", order);
  EXPECT_EQ(made.at("amount_total"), 600);
  EXPECT_EQ(made.at("currency"), "usd");
  scheduler.advance(std::chrono::hours{24} - Millis{1});
  EXPECT_TRUE(endpoint.types.empty());
  scheduler.advance(Millis{1});
  EXPECT_EQ(endpoint.types, std::vector<std::string>{"checkout.session.expired"});
}

TEST_F(OverHttp, AKeyIsInUseUntilItsCallHasHadItsEffect) {
  simulator.faults().script(paysim::Endpoint::create_session,
                            {.latency = Millis{1'000}, .answer_latency = Millis{1'000}});
  const auto slow = begin("POST", "/v1/checkout/sessions", order, "k1");
  EXPECT_EQ(call("POST", "/v1/checkout/sessions", order, "k1").status, 409);
  EXPECT_EQ(sessions(), 0U);
  scheduler.advance(Millis{1'000});
  const auto replayed = call("POST", "/v1/checkout/sessions", order, "k1");
  EXPECT_EQ(replayed.headers.get("Idempotent-Replayed"), "true");
  EXPECT_FALSE(slow->has_value());
  scheduler.advance(Millis{1'000});
  ASSERT_TRUE(slow->has_value());
  EXPECT_EQ((*slow)->body, replayed.body);
  EXPECT_EQ(sessions(), 1U);
}

TEST_F(OverHttp, AKeyIsForgottenAfterADayAndKeepsNoRequestThatIsNotValid) {
  EXPECT_EQ(call("POST", "/v1/checkout/sessions", "mode=payment", "k1").status, 400);
  ok("POST", "/v1/checkout/sessions", order, "k1");
  scheduler.advance(std::chrono::hours{24});
  ok("POST", "/v1/checkout/sessions", order, "k1");
  EXPECT_EQ(sessions(), 2U);
}

TEST_F(OverHttp, AKeyKeepsTheRefusalOfARequestThatWasCarriedOut) {
  const auto made = ok("POST", "/v1/checkout/sessions", order);
  auto& world = simulator.world();
  auto& session = *world.session(std::string(made.at("id").as_string()));
  world.pay(session, Method::card, false, clock.now());
  auto& dispute = world.dispute(*session.attempts.back(), std::nullopt, "fraudulent", false, clock.now());
  const std::string refund = "payment_intent=" + session.intent + "&amount=100";
  const auto refused = call("POST", "/v1/refunds", refund, "k1");
  EXPECT_THAT(refused.body, HasSubstr("charge_disputed"));
  world.close(dispute, true, clock.now());
  const auto replayed = call("POST", "/v1/refunds", refund, "k1");
  EXPECT_EQ(replayed.status, 400);
  EXPECT_EQ(replayed.body, refused.body);
  EXPECT_EQ(replayed.headers.get("Idempotent-Replayed"), "true");
  ok("POST", "/v1/refunds", refund, "k2");
  scheduler.advance(std::chrono::hours{24});
  ok("POST", "/v1/refunds", refund, "k1");
}

TEST_F(OverHttp, TheSameKeyOfAnotherCallIsRefused) {
  const auto made = ok("POST", "/v1/checkout/sessions", order, "k1");
  const std::string path = "/v1/checkout/sessions/" + std::string(made.at("id").as_string()) + "/expire";
  const auto refused = call("POST", path, "", "k1");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("idempotency_error"));
  EXPECT_EQ(call("POST", path, "", "k2").status, 200);
}

TEST_F(OverHttp, ALiveKeyIsRefusedAndNotRepeated) {
  for (const auto* key : {"sk_live_secret", "rk_live_secret"}) {
    const auto refused = call("POST", "/v1/checkout/sessions", order, "", key);
    EXPECT_EQ(refused.status, 401);
    EXPECT_THAT(refused.body, HasSubstr("takes no live key"));
    EXPECT_THAT(refused.body, ::testing::Not(HasSubstr("secret")));
  }
  EXPECT_EQ(sessions(), 0U);
}

TEST_F(OverHttp, ALostAnswerHasHadItsEffectAndAnEarlyLossHasNot) {
  simulator.faults().script(paysim::Endpoint::create_session, {.fault = Fault::drop_before});
  simulator.faults().script(paysim::Endpoint::create_session, {.fault = Fault::drop_after});
  EXPECT_TRUE(call("POST", "/v1/checkout/sessions", order).drop_connection);
  EXPECT_EQ(sessions(), 0U);
  EXPECT_TRUE(call("POST", "/v1/checkout/sessions", order).drop_connection);
  EXPECT_EQ(sessions(), 1U);
}

TEST_F(OverHttp, SignaturesAreDatedByTheMachineWhateverTheWorldsClockSays) {
  ok("POST", "/sim/clock", R"({"advanceMs":3600000})");
  EXPECT_EQ(simulator.now() - clock.now(), std::chrono::hours{1});
  const auto made = ok("POST", "/v1/checkout/sessions", order);
  const std::int64_t seconds = to_unix_ms(clock.now()) / 1'000;
  EXPECT_EQ(made.at("created").as_int64(), seconds + 3'600);
  ok("POST", "/sim/pay", json::serialize(json::object{{"session", made.at("id")}}));
  ASSERT_EQ(endpoint.signatures.size(), 1U);
  EXPECT_THAT(endpoint.signatures[0], ::testing::StartsWith("t=" + std::to_string(seconds) + ",v1="));
}

TEST_F(OverHttp, AVersionIsEchoedIfItIsOne) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/v1/events";
  request.headers.add("Authorization", "Bearer sk_test_x");
  request.headers.add("Stripe-Version", "bad version!");
  std::optional<net::HttpResponse> answer;
  spawn(simulator.handle(request),
        [&](Outcome<net::HttpResponse> outcome) { answer = std::move(outcome.value); });
  EXPECT_EQ(answer->status, 400);
  EXPECT_FALSE(answer->headers.has("Stripe-Version"));
  EXPECT_EQ(call("GET", "/v1/events").headers.get("Stripe-Version"), "2026-10-28.endive");
}

TEST_F(OverHttp, WhatIsNotSimulatedIsNotFound) {
  for (const auto* target :
       {"/v1/customers", "/v1/checkout/sessions/a/b/c", "/v1/charges/a%2Fb", "/", "/v2/x"}) {
    EXPECT_EQ(call("GET", target).status, 404) << target;
  }
  EXPECT_EQ(call("DELETE", "/v1/checkout/sessions/cs_test_x").status, 404);
  EXPECT_EQ(call("POST", "/sim/nothing", "{}").status, 404);
  EXPECT_EQ(call("POST", "/sim/pay", "no json").status, 400);
  EXPECT_EQ(call("POST", "/sim/pay", "[]").status, 400);
}

TEST_F(OverHttp, ResetForgetsEverything) {
  const auto made = ok("POST", "/v1/checkout/sessions", order, "k1");
  simulator.faults().script(paysim::Endpoint::create_session, {.fault = Fault::server_error});
  ok("PUT", "/sim/webhooks", R"({"url":null})");
  ok("POST", "/sim/clock", R"({"advanceMs":1000})");
  ok("POST", "/sim/reset", "{}");
  EXPECT_EQ(sessions(), 0U);
  EXPECT_EQ(simulator.now(), clock.now());
  EXPECT_EQ(simulator.webhooks().options().url, "http://127.0.0.1:1/hook");
  const auto again = ok("POST", "/v1/checkout/sessions", order, "k1");
  EXPECT_NE(again.at("id"), made.at("id"));
}

}  // namespace
}  // namespace presetbridge::paysim
