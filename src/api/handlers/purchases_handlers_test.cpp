#include "api/handlers/purchases_handlers.h"

#include <gmock/gmock.h>

#include "api/handlers/payment_webhook_handlers.h"
#include "api/merchant_api_testing.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "services/payments/processor_testing.h"

namespace presetbridge::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PurchasesApi : public testing::MerchantApiTest {
 protected:
  PurchasesApi() {
    secrets_.emplace_back("whsec_planted");
    add_purchases_routes(router_, {purchases_, checkouts_, refreshes_});
    add_payment_webhook_routes(router_, {purchases_, secrets_, false, world_.clock(), metrics_, failures_});
  }
  testing::Answer buy() {
    return send(me_, "POST", "/api/credits/checkout", json::object{{"packId", "small"}});
  }
  static std::string session_of(const testing::Answer& purchase) {
    return services::testing::FakeProcessor::session_of(purchase.string("id"));
  }
  testing::Answer notify(const json::object& event, const std::string& secret = "whsec_planted") {
    const auto at = std::to_string(to_unix_ms(world_.clock().now()) / 1'000);
    const auto mac = crypto::hmac_sha256(secret, at + "." + json::serialize(event));
    return send({}, "POST", "/api/payments/webhook", event,
                {{"Stripe-Signature", "t=" + at + ",v1=" + crypto::hex_encode(mac)}});
  }
  static json::object event_of(const std::string& session) {
    return {
        {"id", "evt_1"},
        {"object", "event"},
        {"type", "checkout.session.completed"},
        {"livemode", false},
        {"data", json::object{{"object", json::object{{"object", "checkout.session"}, {"id", session}}}}}};
  }

  presetbridge::testing::CountingMetrics metrics_;
  net::NetworkBudget failures_{world_.clock(), {}, {.failures = 300, .window = std::chrono::minutes{1}}};
  net::KeyBudget checkouts_{world_.clock(), {.times = 3, .window = std::chrono::minutes{10}}};
  net::KeyBudget refreshes_{world_.clock(), {.times = 2, .window = std::chrono::minutes{1}}};
  services::testing::FakeProcessor processor_{world_.clock()};
  services::Settlement settlement_{world_.async_db, changes_, processor_, log_, [] {}};
  services::Purchases purchases_{
      world_.async_db,
      world_.ids,
      &settlement_,
      {.packs = {{"small", "100 credits", 100, 1'900, "eur"}}, .base_url = "https://bridge.example"}};
  std::vector<crypto::SecretString> secrets_;
};

TEST_F(PurchasesApi, ACheckoutIsAPurchaseWithAPageAndAnothersIsNotThere) {
  const auto opened = buy();
  ASSERT_EQ(opened.status, 201);
  EXPECT_EQ(opened.string("url"), "https://pay.example/" + session_of(opened));
  const auto path = "/api/credits/purchases/" + opened.string("id");
  EXPECT_EQ(send(me_, "GET", path).string("state"), "pending");
  for (const auto* method : {"GET", "POST"}) {
    const auto target = path + (std::string_view(method) == "POST" ? "/refresh" : "");
    EXPECT_EQ(send(stranger_, method, target).code(), "NOT_FOUND");
  }
  EXPECT_EQ(send(me_, "GET", "/api/credits/purchases/pur_x").code(), "NOT_FOUND");
  EXPECT_EQ(send(me_, "GET", "/api/credits/purchases?state=bought").code(), "VALIDATION_FAILED");
  EXPECT_EQ(
      send(me_, "POST", "/api/credits/checkout", json::object{{"packId", "small"}, {"credits", 9}}).code(),
      "VALIDATION_FAILED");
}

TEST_F(PurchasesApi, AnAccountHasABudgetOfCheckoutsAndQuestions) {
  const auto opened = buy();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(buy().status, 201);
  const auto often = buy();
  EXPECT_EQ(often.code(), "RATE_LIMIT_EXCEEDED");
  EXPECT_TRUE(often.headers.get("Retry-After"));
  EXPECT_EQ(send(stranger_, "POST", "/api/credits/checkout", json::object{{"packId", "small"}}).status, 201);
  const auto path = "/api/credits/purchases/" + opened.string("id") + "/refresh";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(send(me_, "POST", path).status, 200);
  EXPECT_EQ(send(me_, "POST", path).status, 429);
}

TEST_F(PurchasesApi, AWebhookIsTakenInOnceItIsSignedAndOfTheMode) {
  const auto opened = buy();
  const auto session = session_of(opened);
  processor_.pay(session);
  EXPECT_EQ(notify(event_of(session), "whsec_other").code(), "INVALID_SIGNATURE");
  auto live = event_of(session);
  live["livemode"] = true;
  EXPECT_EQ(notify(live).code(), "INVALID_PAYLOAD");
  EXPECT_EQ(notify({{"hello", 1}}).code(), "INVALID_PAYLOAD");
  EXPECT_EQ(metrics_.counted["presetbridge_payment_webhooks_refused_total"], 3);
  const auto path = "/api/credits/purchases/" + opened.string("id");
  EXPECT_EQ(send(me_, "GET", path).string("state"), "pending");
  EXPECT_EQ(notify(event_of(session)).status, 200);
  const auto paid = send(me_, "GET", path);
  EXPECT_EQ(paid.string("state"), "paid");
  EXPECT_EQ(paid.body.at("creditsGranted"), 100);
  EXPECT_EQ(notify(event_of("cs_of_nobody")).status, 200);
  EXPECT_THAT(all_answers_, Not(HasSubstr("whsec_")));
}

TEST_F(PurchasesApi, TheAddressOfThePageIsReturnedWhileItCanBePaid) {
  const auto opened = buy();
  const auto refreshed = [&] {
    world_.clock().advance(services::kAskedAnew);
    return send(me_, "POST", "/api/credits/purchases/" + opened.string("id") + "/refresh");
  };
  EXPECT_EQ(refreshed().string("url"), opened.string("url"));
  processor_.pay_later(session_of(opened));
  const auto waiting = refreshed();
  EXPECT_EQ(waiting.string("state"), "pending");
  EXPECT_TRUE(waiting.body.at("url").is_null());
}

TEST_F(PurchasesApi, TheLedgerIsATableToo) {
  const auto opened = buy();
  processor_.pay(session_of(opened));
  ASSERT_EQ(notify(event_of(session_of(opened))).status, 200);
  const auto table = send(me_, "GET", "/api/credits/ledger.csv?kind=purchase").text;
  EXPECT_THAT(
      table,
      HasSubstr(
          "id,at,kind,credits,itemId,purchaseId,note,balanceAfter,cause,deliveryId,orderId,orderNumber\r\n"));
  EXPECT_THAT(table, HasSubstr(",purchase,100,," + opened.string("id") + ",100 credits,100,,,,\r\n"));
  processor_.dispute(session_of(opened), 1'900);
  world_.clock().advance(services::kAskedAnew);
  send(me_, "POST", "/api/credits/purchases/" + opened.string("id") + "/refresh");
  EXPECT_THAT(send(me_, "GET", "/api/credits/ledger.csv?kind=reversal").text,
              HasSubstr(",reversal,100,," + opened.string("id") + ",100 credits,0,dispute,,,\r\n"));
  const auto listed = send(me_, "GET", "/api/credits/ledger").body.at("data").as_array();
  EXPECT_EQ(listed.at(0).at("cause"), "dispute");
  EXPECT_TRUE(listed.at(1).at("cause").is_null());
  processor_.dispute(session_of(opened), 0);
  world_.clock().advance(services::kAskedAnew);
  send(me_, "POST", "/api/credits/purchases/" + opened.string("id") + "/refresh");
  EXPECT_THAT(send(me_, "GET", "/api/credits/ledger.csv?createdTo=2020-01-01T00:00:00Z").text,
              Not(HasSubstr("led_")));
  EXPECT_EQ(send(me_, "GET", "/api/credits/ledger.csv?createdTo=yesterday").code(), "VALIDATION_FAILED");
  const auto balance = send(me_, "GET", "/api/credits").body;
  EXPECT_EQ(balance.at("available"), 100);
  EXPECT_EQ(json::serialize(balance.at("perDay")), "0");
  EXPECT_TRUE(balance.at("runsOutAt").is_null());
}

}  // namespace
}  // namespace presetbridge::api
