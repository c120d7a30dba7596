#include "payments/stripe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "base/testing.h"
#include "payments/stripe_reading.h"

namespace presetbridge::payments {
namespace {

using Kind = ProcessorError::Kind;
using ::testing::HasSubstr;
using ::testing::Not;

// Answers what a test has queued, and keeps what it was asked.
class FakeHttp final : public net::HttpClient {
 public:
  Task<net::HttpResult> send(Executor& executor, net::OutgoingRequest request) override {
    requests.push_back(std::move(request));
    net::HttpResult result = std::move(answers.front());
    answers.pop_front();
    co_return co_await suspend<net::HttpResult>(executor, [&](auto resume) { resume(std::move(result)); });
  }
  std::deque<net::HttpResult> answers;
  std::vector<net::OutgoingRequest> requests;
};

constexpr const char* kOpen =
    R"({"id":"cs_1","object":"checkout.session","mode":"payment","status":"open","payment_status":"unpaid","url":"https://pay.test/cs_1","amount_total":1900,"currency":"eur","livemode":false,"client_reference_id":"pur_1","metadata":{"account":"acc_1"},"payment_intent":null})";
std::string session(const std::string& status, const std::string& payment_status) {
  return R"({"id":"cs_1","object":"checkout.session","mode":"payment","status":")" + status +
         R"(","payment_status":")" + payment_status +
         R"(","url":null,"amount_total":1900,"currency":"eur","livemode":false,"client_reference_id":"pur_1","metadata":{"account":"acc_1"},"payment_intent":"pi_1"})";
}
std::string intent(const std::string& status) {
  return R"({"id":"pi_1","object":"payment_intent","status":")" + status + R"(","latest_charge":"ch_1"})";
}
std::string charge(int refunded, bool disputed) {
  return R"({"id":"ch_1","object":"charge","amount":1900,"amount_captured":1900,"amount_refunded":)" +
         std::to_string(refunded) + R"(,"currency":"eur","disputed":)" + (disputed ? "true" : "false") +
         R"(,"receipt_url":"https://pay.test/receipt"})";
}
std::string dispute(const std::string& status, int amount, const std::string& currency = "eur") {
  return R"({"id":"dp","object":"dispute","status":")" + status + R"(","amount":)" + std::to_string(amount) +
         R"(,"currency":")" + currency + R"("})";
}
std::string refund(const std::string& id, const std::string& status, const std::string& key) {
  return R"({"id":")" + id + R"(","object":"refund","amount":500,"status":")" + status +
         R"(","metadata":{"key":")" + key + R"("}})";
}
std::string list(const std::string& elements, bool more = false) {
  return R"({"object":"list","has_more":)" + std::string(more ? "true" : "false") + R"(,"data":[)" +
         elements + "]}";
}

class StripeTest : public ::testing::Test {
 protected:
  template <class T>
  T await(Task<T> task) {
    std::optional<T> value;
    spawn(std::move(task), [&](Outcome<T> outcome) { value = std::move(outcome.value); });
    scheduler.run();
    return std::move(value.value());
  }
  void answer(std::string body, int status = 200) {
    http.answers.push_back({net::HttpAnswer{status, {}, std::move(body), false}, Millis{1}});
  }
  void fail_with(net::HttpFailure::Kind kind) {
    http.answers.push_back({net::HttpFailure{kind, "simulated"}, Millis{1}});
  }
  ProcessorResult<Payment> look_up() { return await(stripe.look_up(scheduler, "cs_1")); }
  ProcessorResult<Checkout> checkout() {
    return await(stripe.open_checkout(scheduler, {.purchase = "pur_1",
                                                  .account = "acc_1",
                                                  .name = "100 credits & more",
                                                  .amount = 1'900,
                                                  .currency = "eur",
                                                  .return_url = "https://bridge.test/return?purchase=pur_1",
                                                  .cancel_url = "https://bridge.test/return?left=1",
                                                  .expires_at = from_unix_ms(1'790'000'000'999)}));
  }
  std::string header(std::string_view name, std::size_t request = 0) {
    for (const auto& [key, value] : http.requests.at(request).headers) {
      if (key == name) return value;
    }
    return {};
  }

  presetbridge::testing::ManualClock clock;
  presetbridge::testing::VirtualScheduler scheduler{clock};
  FakeHttp http;
  Stripe stripe{http, crypto::SecretString("sk_test_planted123"), {.base_url = "https://stripe.test"}};
};

TEST_F(StripeTest, KeysShowTheirMode) {
  for (const auto* key : {"sk_test_1234", "rk_test_1234", "sk_live_1234", "rk_live_1234"})
    EXPECT_TRUE(is_stripe_key(key)) << key;
  for (const auto* key : {"", "sk_test_", "pk_test_1234", "sk_other_1234", "sk_test_12 34", "sk_test_1234\n"})
    EXPECT_FALSE(is_stripe_key(key)) << key;
  EXPECT_TRUE(is_live_stripe_key("rk_live_1234"));
  EXPECT_FALSE(is_live_stripe_key("sk_test_live"));
  EXPECT_FALSE(stripe.live());
}

TEST_F(StripeTest, OpensAPageOnceForAPurchase) {
  answer(kOpen);
  const auto page = checkout();
  ASSERT_TRUE(page);
  EXPECT_EQ(page->session, "cs_1");
  EXPECT_EQ(page->url, "https://pay.test/cs_1");
  const auto& request = http.requests.at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://stripe.test/v1/checkout/sessions");
  EXPECT_EQ(header("Authorization"), "Bearer sk_test_planted123");
  EXPECT_EQ(header("Stripe-Version"), kStripeVersion);
  EXPECT_EQ(header("Idempotency-Key"), "pur_1");
  EXPECT_EQ(header("Content-Type"), "application/x-www-form-urlencoded");
  for (const auto* part :
       {"mode=payment", "client_reference_id=pur_1", "line_items%5B0%5D%5Bquantity%5D=1",
        "unit_amount%5D=1900", "%5Bcurrency%5D=eur", "%5Bname%5D=100%20credits%20%26%20more",
        "metadata%5Baccount%5D=acc_1", "payment_intent_data%5Bmetadata%5D%5Bpurchase%5D=pur_1",
        "expires_at=1790000000", "success_url=https%3A%2F%2Fbridge.test%2Freturn%3Fpurchase%3Dpur_1&",
        "cancel_url=https%3A%2F%2Fbridge.test%2Freturn%3Fleft%3D1", "adaptive_pricing%5Benabled%5D=false"})
    EXPECT_THAT(request.body, HasSubstr(part));
}

TEST_F(StripeTest, APageOfNobodyOrOfAnotherSchemeIsNone) {
  for (const auto& body : {std::string("{}"), std::string("no json"),
                           std::string(kOpen).replace(7, 4, "cs-1\""), session("complete", "paid")}) {
    answer(body);
    const auto page = checkout();
    ASSERT_FALSE(page) << body;
    EXPECT_EQ(page.error().kind, Kind::malformed);
  }
  std::string script = kOpen;
  script.replace(script.find("https://pay.test"), 5, "java:");
  answer(script);
  EXPECT_EQ(checkout().error().kind, Kind::malformed);
  std::string other = kOpen;
  other.replace(other.find("pur_1"), 5, "pur_2");
  answer(other);
  EXPECT_EQ(checkout().error().kind, Kind::malformed);
}

TEST_F(StripeTest, ErrorsSayWhatToDoAndNoSecret) {
  const auto answered = [&](int status, const std::string& body) {
    answer(body, status);
    return checkout().error();
  };
  EXPECT_EQ(answered(500, "").kind, Kind::unavailable);
  EXPECT_EQ(answered(429, "{}").kind, Kind::unavailable);
  EXPECT_EQ(answered(409, "{}").kind, Kind::unavailable);
  EXPECT_EQ(answered(401, "{}").kind, Kind::refused);
  const auto refused = answered(400, R"({"error":{"message":"Invalid currency: xyz"}})");
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_THAT(refused.message, HasSubstr("Invalid currency"));
  EXPECT_THAT(answered(400, R"({"error":{"message":"your key sk_test_planted123 is odd"}})").message,
              Not(HasSubstr("planted")));
  EXPECT_EQ(answered(302, "").kind, Kind::malformed);
  EXPECT_EQ(answered(400, "no json").kind, Kind::malformed);
  for (const auto kind :
       {net::HttpFailure::Kind::timeout, net::HttpFailure::Kind::connect, net::HttpFailure::Kind::lost}) {
    fail_with(kind);
    EXPECT_EQ(checkout().error().kind, Kind::unavailable);
  }
}

TEST_F(StripeTest, LooksUpWhatAPageCameTo) {
  answer(kOpen);
  auto found = look_up();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->facts.page, domain::PaymentFacts::Page::open);
  EXPECT_FALSE(found->facts.paid);
  EXPECT_EQ(found->facts.purchase, "pur_1");
  EXPECT_EQ(found->facts.account, "acc_1");
  EXPECT_EQ(http.requests.size(), 1U);

  answer(session("complete", "unpaid"));
  answer(intent("processing"));
  found = look_up();
  EXPECT_FALSE(found->facts.paid || found->facts.payment_failed);
  EXPECT_EQ(found->payment, "pi_1");
  answer(session("complete", "unpaid"));
  answer(intent("requires_payment_method"));
  EXPECT_TRUE(look_up()->facts.payment_failed);
  answer(session("expired", "unpaid"));
  EXPECT_EQ(look_up()->facts.page, domain::PaymentFacts::Page::expired);

  answer(session("complete", "paid"));
  answer(intent("succeeded"));
  answer(charge(300, false));
  found = look_up();
  EXPECT_TRUE(found->facts.paid);
  EXPECT_EQ(found->facts.refunded, 300);
  EXPECT_EQ(found->facts.disputed, 0);
  EXPECT_EQ(found->receipt_url, "https://pay.test/receipt");
}

TEST_F(StripeTest, CountsTheDisputesThatTakeMoney) {
  const auto disputed = [&](const std::string& disputes) {
    answer(session("complete", "paid"));
    answer(intent("succeeded"));
    answer(charge(0, true));
    answer(list(disputes));
    const auto found = look_up();
    return found ? found->facts.disputed : -1;
  };
  EXPECT_EQ(disputed(dispute("needs_response", 1'900)), 1'900);
  EXPECT_THAT(http.requests.back().url, HasSubstr("payment_intent=pi_1"));
  EXPECT_EQ(disputed(dispute("lost", 500) + "," + dispute("under_review", 400)), 900);
  EXPECT_EQ(disputed(dispute("appeal_under_review", 500)), 500);
  for (const auto* status :
       {"won", "prevented", "warning_needs_response", "warning_under_review", "warning_closed"})
    EXPECT_EQ(disputed(dispute(status, 1'900)), 0) << status;
  EXPECT_EQ(disputed(dispute("lost", 7, "usd")), 1'900) << "in another currency: all of it";
  EXPECT_EQ(disputed(""), 0);
}

TEST_F(StripeTest, DoesNotBelieveNonsense) {
  const auto refused = [&](std::vector<std::string> bodies) {
    http.answers.clear();
    for (auto& body : bodies) answer(std::move(body));
    const auto found = look_up();
    return !found && found.error().kind == Kind::malformed;
  };
  std::string other = kOpen;
  other.replace(other.find("cs_1"), 4, "cs_2");
  EXPECT_TRUE(refused({other})) << "another page";
  EXPECT_TRUE(refused({"[]"}));
  EXPECT_TRUE(refused({std::string(200, '[')}));
  EXPECT_TRUE(refused({session("paid", "paid")}));
  EXPECT_TRUE(refused({session("complete", "perhaps")}));
  for (const auto* amount : {"-1", "1.5", "\"1900\"", "null", "9007199254740992"}) {
    auto body = session("complete", "paid");
    body.replace(body.find("1900"), 4, amount);
    EXPECT_TRUE(refused({body})) << amount;
  }
  EXPECT_TRUE(refused({session("complete", "paid"), intent("succeeded").replace(7, 4, "pi_2")}));
  auto dollars = charge(0, false);
  dollars.replace(dollars.find("eur"), 3, "usd");
  EXPECT_TRUE(refused({session("complete", "paid"), intent("succeeded"), dollars}));
  EXPECT_TRUE(refused({session("complete", "paid"), intent("succeeded"), charge(0, true), list("", true)}));
}

TEST_F(StripeTest, ReadsNoticesAPageAtATime) {
  const auto event = [](const std::string& id, const std::string& object) {
    return R"({"id":")" + id + R"(","object":"event","type":"t","livemode":false,"data":{"object":)" +
           object + "}}";
  };
  answer(
      list(event("evt_3", R"({"object":"charge","id":"ch_1","payment_intent":"pi_1"})") + "," +
               event("evt_2", R"({"object":"checkout.session","id":"cs_1","client_reference_id":"pur_1"})") +
               "," + event("evt_1", R"({"object":"payout","id":"po_1"})"),
           true));
  const auto page =
      await(stripe.notices(scheduler, from_unix_ms(1'000'000), from_unix_ms(2'000'000), "evt_9"));
  ASSERT_TRUE(page);
  ASSERT_EQ(page->notices.size(), 3U);
  EXPECT_EQ(page->notices[0].payment, "pi_1");
  EXPECT_EQ(page->notices[1].session, "cs_1");
  EXPECT_EQ(page->notices[1].purchase, "pur_1");
  EXPECT_TRUE(page->notices[2].payment.empty() && page->notices[2].session.empty());
  EXPECT_EQ(page->last, "evt_1");
  EXPECT_TRUE(page->more);
  for (const auto* part : {"created%5Bgte%5D=1000&", "created%5Blt%5D=2000&", "starting_after=evt_9",
                           "limit=", "types%5B%5D=charge.refunded"})
    EXPECT_THAT(http.requests.back().url, HasSubstr(part));
  answer(list("", true));
  EXPECT_FALSE(await(stripe.notices(scheduler, {}, {}, "")));
}

TEST_F(StripeTest, GivesMoneyBackOnceForAKey) {
  answer(refund("re_1", "succeeded", "key-1"));
  const auto made = await(stripe.refund(scheduler, "pi_1", 500, "key-1"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->id, "re_1");
  EXPECT_EQ(made->status, Refund::Status::succeeded);
  EXPECT_EQ(http.requests.back().body, "payment_intent=pi_1&amount=500&metadata%5Bkey%5D=key-1");
  EXPECT_EQ(header("Idempotency-Key"), "key-1");
  answer(R"({"error":{"message":"already refunded"}})", 400);
  EXPECT_EQ(await(stripe.refund(scheduler, "pi_1", 500, "key-2")).error().kind, Kind::refused);
}

TEST_F(StripeTest, ReturnsWhatBecameOfARefund) {
  using Status = Refund::Status;
  for (const auto& [status, meant] : {std::pair{"succeeded", Status::succeeded},
                                      {"pending", Status::pending},
                                      {"requires_action", Status::pending},
                                      {"failed", Status::failed},
                                      {"canceled", Status::failed}}) {
    answer(refund("re_1", status, "key-1"));
    EXPECT_EQ(await(stripe.refund(scheduler, "pi_1", 500, "key-1"))->status, meant) << status;
    answer(list(refund("re_2", "succeeded", "") + "," + refund("re_1", status, "key-1")));
    const auto made = await(stripe.made_refund(scheduler, "pi_1", "key-1"));
    ASSERT_TRUE(made && *made);
    EXPECT_EQ((*made)->id, "re_1");
    EXPECT_EQ((*made)->status, meant) << status;
  }
  EXPECT_THAT(http.requests.back().url, HasSubstr("/v1/refunds?limit=100&payment_intent=pi_1"));
  answer(list(refund("re_2", "succeeded", "key-2")));
  const auto none = await(stripe.made_refund(scheduler, "pi_1", "key-1"));
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  for (const std::string& body :
       {refund("re_1", "perhaps", "key-1"), refund("", "succeeded", "key-1"), std::string(kOpen)}) {
    answer(body);
    EXPECT_EQ(await(stripe.refund(scheduler, "pi_1", 500, "key-1")).error().kind, Kind::malformed) << body;
    answer(list(body));
    EXPECT_EQ(await(stripe.made_refund(scheduler, "pi_1", "key-1")).error().kind, Kind::malformed) << body;
  }
  answer(refund("re_1", "succeeded", "key-1"));
  EXPECT_EQ(await(stripe.refund(scheduler, "pi_1", 501, "key-1")).error().kind, Kind::malformed) << "less";
  answer(list(refund("re_2", "succeeded", ""), true));
  EXPECT_EQ(await(stripe.made_refund(scheduler, "pi_1", "key-1")).error().kind, Kind::malformed) << "more";
}

TEST(StripeReading, WebhooksAreEventsOrNothing) {
  EXPECT_TRUE(read_stripe_event(
      R"({"id":"evt_1","object":"event","type":"t","livemode":true,"data":{"object":{"object":"dispute","payment_intent":{"id":"pi_1"}}}})"));
  for (
      const auto* body :
      {"", "{}", "[]", R"({"id":"evt_1","object":"event","type":"t","livemode":true})",
       R"({"id":"evt_1","object":"event","type":"t","livemode":"true","data":{"object":{}}})",
       R"({"id":1,"object":"event","type":"t","livemode":true,"data":{"object":{}}})",
       R"({"id":"evt_1","object":"thing","type":"t","livemode":true,"data":{"object":{}}})",
       R"({"id":"evt_1","object":"event","type":"t","livemode":true,"data":{"object":{"object":"checkout.session"}}})"})
    EXPECT_FALSE(read_stripe_event(body)) << body;
}

}  // namespace
}  // namespace presetbridge::payments
