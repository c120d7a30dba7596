// Tests of the verbs with which a merchant tests a connection: listen.h and send_order.h.
#include <gtest/gtest.h>

#include <sstream>

#include "app/verbs/listen.h"
#include "app/verbs/send_order.h"
#include "crypto/webhook_signature.h"
#include "providers/parse.h"
#include "providers/verify.h"

namespace presetbridge::app {
namespace {

using domain::Provider;

constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr std::string_view kOther = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
constexpr Timestamp kNow = from_unix_ms(1'790'000'000'000);

providers::HeaderValues values_of(const std::vector<std::pair<std::string, std::string>>& headers) {
  return [&headers](std::string_view name) {
    std::vector<std::string_view> values;
    for (const auto& [field, value] : headers) {
      if (net::same_field_name(field, name)) values.push_back(value);
    }
    return values;
  };
}

class SampleOrder : public ::testing::TestWithParam<Provider> {};
INSTANTIATE_TEST_SUITE_P(EachProvider, SampleOrder,
                         ::testing::Values(Provider::provider_a, Provider::provider_b, Provider::generic));

TEST_P(SampleOrder, IsReadAsTheOrderThatWasAskedFor) {
  const auto body = order_payload(
      GetParam(),
      {.order_id = "7001", .username = "ana_tones", .skus = {"A-1", "B-2"}, .email = "ana@example.com"},
      kNow);
  const auto headers = order_headers(GetParam(), kSecret, body);
  const auto& profile = providers::profile_of(GetParam());
  const auto topic = providers::first_header(profile.topic_headers, values_of(headers));
  const auto order = providers::parse(profile, {.body = body, .topic = topic});
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->kind, domain::OrderEvent::Kind::order);
  EXPECT_EQ(order->payment, domain::Payment::deliver);
  EXPECT_EQ(order->order_id, "7001");
  EXPECT_EQ(order->username, "ana_tones");
  EXPECT_EQ(order->email, "ana@example.com");
  EXPECT_FALSE(order->test);
  ASSERT_EQ(order->lines.size(), 2u);
  EXPECT_EQ(order->lines[0].sku, "A-1");
  EXPECT_EQ(order->lines[1].sku, "B-2");
}

TEST_P(SampleOrder, IsSignedAsThatProviderSigns) {
  const std::string body = order_payload(GetParam(), {.order_id = "7001", .skus = {"A-1"}}, kNow);
  const auto headers = order_headers(GetParam(), kSecret, body);
  const auto& profile = providers::profile_of(GetParam());
  EXPECT_TRUE(providers::verify(profile, values_of(headers), body, std::array{kSecret}));
  EXPECT_FALSE(providers::verify(profile, values_of(headers), body + " ", std::array{kSecret}));
  EXPECT_FALSE(providers::verify(profile, values_of(headers), body, std::array{kOther}));
}

TEST(SendOrder, HasALineForEachKeyOfAMapping) {
  const auto body = order_payload(Provider::provider_a,
                                  {.order_id = "7001",
                                   .skus = {"A-1"},
                                   .variant_ids = {"901"},
                                   .product_ids = {"902"},
                                   .titles = {"Lofi Pack"},
                                   .quantity = 3},
                                  kNow);
  const auto order =
      providers::parse(providers::profile_of(Provider::provider_a), {.body = body, .topic = ""});
  ASSERT_TRUE(order) << order.error().message;
  ASSERT_EQ(order->lines.size(), 4u);
  EXPECT_EQ(order->lines[0].sku, "A-1");
  EXPECT_EQ(order->lines[1].variant_id, "901");
  EXPECT_EQ(order->lines[2].product_id, "902");
  EXPECT_EQ(order->lines[3].title, "Lofi Pack");
  for (const auto& line : order->lines) EXPECT_EQ(line.quantity, 3);
}

TEST(SendOrder, NamesTheTopicThatWasAskedFor) {
  const auto topic_of = [](Provider provider, std::string_view topic) {
    const auto headers = order_headers(provider, kSecret, "{}", topic);
    return std::string(
        providers::first_header(providers::profile_of(provider).topic_headers, values_of(headers)));
  };
  EXPECT_EQ(topic_of(Provider::provider_a, "orders/cancelled"), "orders/cancelled");
  EXPECT_EQ(topic_of(Provider::provider_a, ""), "orders/paid");
  EXPECT_EQ(topic_of(Provider::provider_b, "order.deleted"), "order.deleted");
  EXPECT_EQ(order_headers(Provider::generic, kSecret, "{}", "any").size(), 2u);
}

TEST(SendOrder, RefusesOptionsThatMakeNoOrder) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_send_order({.provider = "provider_z", .url = "http://127.0.0.1:9/", .secret = "s"}, out, err),
            2);
  EXPECT_EQ(run_send_order({.url = "http://127.0.0.1:9/", .secret = ""}, out, err), 2);
  EXPECT_EQ(run_send_order({.url = "http://127.0.0.1:9/", .secret = "s", .repeat = 0}, out, err), 2);
  EXPECT_EQ(out.str(), "");
}

net::HttpRequest event_signed_by(std::string_view secret, std::optional<std::string_view> previous = {},
                                 std::optional<std::string_view> older = {}) {
  net::HttpRequest request;
  request.method = "POST";
  request.body =
      R"({"id":"e1","type":"delivery.completed","deliveryId":"del_1","delivery":{"status":"completed"}})";
  const std::int64_t at = to_unix_ms(kNow) / 1000;
  const auto signatures = crypto::sign_webhook({"e1", at, request.body}, secret, previous, older).value();
  request.headers.add("X-Vendor-Event", "delivery.completed");
  request.headers.add("X-Vendor-Signature", signatures.vendor);
  if (signatures.vendor_previous)
    request.headers.add("X-Vendor-Signature-Previous", *signatures.vendor_previous);
  if (signatures.vendor_older) request.headers.add("X-Vendor-Signature-Older", *signatures.vendor_older);
  request.headers.add("webhook-id", "e1");
  request.headers.add("webhook-timestamp", std::to_string(at));
  request.headers.add("webhook-signature", signatures.standard);
  return request;
}

TEST(Listen, VerifiesBothSignaturesAndPrintsWhatCame) {
  const auto seen = inspect_webhook(event_signed_by(kSecret), kSecret, kNow);
  EXPECT_TRUE(seen.verified) << seen.problem;
  EXPECT_EQ(webhook_line(seen, false), "delivery.completed  del_1  completed  verified");
  EXPECT_EQ(
      webhook_line(seen, true),
      R"({"id":"e1","type":"delivery.completed","delivery":"del_1","status":"completed","verified":true})");
}

TEST(Listen, AReceiverWithAFormerSecretAcceptsDuringARotation) {
  EXPECT_TRUE(inspect_webhook(event_signed_by(kSecret, kOther), kOther, kNow).verified);
  EXPECT_TRUE(inspect_webhook(event_signed_by(kSecret, kSecret, kOther), kOther, kNow).verified);
  EXPECT_FALSE(inspect_webhook(event_signed_by(kSecret), kOther, kNow).verified);
}

TEST(Listen, RefusesAChangedBodyAnOldEventAndMissingHeaders) {
  auto changed = event_signed_by(kSecret);
  changed.body += ' ';
  EXPECT_FALSE(inspect_webhook(changed, kSecret, kNow).verified);
  EXPECT_EQ(inspect_webhook(event_signed_by(kSecret), kSecret, kNow + std::chrono::hours{1}).problem,
            "webhook-timestamp is too old");
  EXPECT_FALSE(inspect_webhook({.method = "POST"}, kSecret, kNow).verified);
}

TEST(Listen, HandsOnTheSameBytesAndAllHeadersButTheConnections) {
  auto request = event_signed_by(kSecret);
  for (const char* name : {"Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect"})
    request.headers.add(name, "x");
  const auto outgoing = forwarded_request(request, "http://127.0.0.1:3000/hook");
  EXPECT_EQ(outgoing.url, "http://127.0.0.1:3000/hook");
  EXPECT_EQ(outgoing.body, request.body);
  std::vector<std::string> names;
  for (const auto& [name, value] : outgoing.headers) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"X-Vendor-Event", "X-Vendor-Signature", "webhook-id",
                                             "webhook-timestamp", "webhook-signature"}));
}

TEST(Listen, PrintsWhatBecameOfWhatItHandedOn) {
  ReceivedWebhook event{.type = "webhook.test", .verified = true};
  event.forwarded = 503;
  EXPECT_EQ(webhook_line(event, false), "webhook.test  -  -  verified  forwarded: 503");
  event.forwarded = 0;
  event.forward_problem = "no \x1b connection";
  EXPECT_EQ(webhook_line(event, false), "webhook.test  -  -  verified  NOT FORWARDED: no ? connection");
}

TEST(Listen, AStrangersTextCannotSteerTheTerminal) {
  const ReceivedWebhook hostile{.type = "\x1b[2Jcleared\n", .verified = false, .problem = "why"};
  EXPECT_EQ(webhook_line(hostile, false), "?[2Jcleared?  -  -  NOT VERIFIED: why");
  EXPECT_FALSE(webhook_line(hostile, true).contains('\x1b'));
}

TEST(Listen, RefusesWhatIsNoWebhookSecret) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_listen({.secret = "not-one"}, out, err), 2);
  EXPECT_FALSE(err.str().contains("not-one"));
}

}  // namespace
}  // namespace presetbridge::app
