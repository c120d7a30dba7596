#include "crypto/webhook_signature.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

// The example of the Standard Webhooks libraries; the vendor signature was computed with another HMAC
// implementation.
constexpr std::string_view secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr WebhookMessage message{"msg_p5jXN8AQM9LWM0D4loKWxJek", 1'614'265'330, R"({"test": 2432232314})"};
constexpr std::string_view standard = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
constexpr std::string_view vendor = "sha256=80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c";
constexpr StandardWebhookHeaders headers{message.id, "1614265330", standard};

Timestamp at(std::int64_t unix_s) {
  return from_unix_ms(unix_s * 1000);
}

WebhookVerdict verdict(StandardWebhookHeaders h, std::string_view body = message.body,
                       Timestamp now = at(message.timestamp_s)) {
  return verify_standard_signature(secret, h, body, now);
}

TEST(WebhookSignature, IsThatOfTheStandardWebhooksLibraries) {
  const auto signatures = sign_webhook(message, secret);
  ASSERT_TRUE(signatures);
  EXPECT_EQ(signatures->standard, standard);
  EXPECT_EQ(signatures->vendor, vendor);
  EXPECT_FALSE(signatures->vendor_previous);
}

TEST(WebhookSignature, ARotationSignsWithBothSecrets) {
  testing::SeededRandom random;
  const auto fresh = generate_webhook_secret(random);
  const auto signatures = sign_webhook(message, fresh, secret);
  ASSERT_TRUE(signatures);
  EXPECT_EQ(signatures->vendor_previous, vendor);
  EXPECT_TRUE(verify_vendor_signature(fresh, signatures->vendor, message.body));
  EXPECT_FALSE(verify_vendor_signature(secret, signatures->vendor, message.body));
  const auto space = signatures->standard.find(' ');
  EXPECT_EQ(signatures->standard.substr(space + 1), standard);
  const StandardWebhookHeaders sent{message.id, "1614265330", signatures->standard};
  EXPECT_EQ(verdict(sent), WebhookVerdict::valid);
  EXPECT_EQ(verify_standard_signature(fresh, sent, message.body, at(message.timestamp_s)),
            WebhookVerdict::valid);
  EXPECT_EQ(
      verify_standard_signature(generate_webhook_secret(random), sent, message.body, at(message.timestamp_s)),
      WebhookVerdict::not_matching);
}

TEST(WebhookSignature, TwoRotationsSignWithAllThreeSecrets) {
  testing::SeededRandom random;
  const auto fresh = generate_webhook_secret(random);
  const auto previous = generate_webhook_secret(random);
  const auto signatures = sign_webhook(message, fresh, previous, secret);
  ASSERT_TRUE(signatures);
  EXPECT_TRUE(verify_vendor_signature(previous, signatures->vendor_previous.value(), message.body));
  EXPECT_EQ(signatures->vendor_older, vendor);
  const StandardWebhookHeaders sent{message.id, "1614265330", signatures->standard};
  for (const std::string_view one : {std::string_view(fresh), std::string_view(previous), secret}) {
    EXPECT_EQ(verify_standard_signature(one, sent, message.body, at(message.timestamp_s)),
              WebhookVerdict::valid);
  }
}

TEST(WebhookSignature, SecretsAreWhsecAndBase64Of24To64Bytes) {
  testing::SeededRandom random;
  const auto generated = generate_webhook_secret(random);
  EXPECT_TRUE(is_webhook_secret(generated));
  EXPECT_EQ(generated.size(), 6u + 44u);
  EXPECT_TRUE(is_webhook_secret(secret));
  EXPECT_TRUE(is_webhook_secret("whsec_" + base64_encode(std::string(64, 'x'))));
  for (const auto& bad :
       {std::string(), std::string("whsec_"), std::string(secret.substr(6)), std::string(secret) + "=",
        "whsec_" + base64_encode(std::string(23, 'x')), "whsec_" + base64_encode(std::string(65, 'x')),
        "whsec_" + std::string(100'000, 'A')}) {
    EXPECT_FALSE(is_webhook_secret(bad)) << bad.size();
    EXPECT_EQ(sign_webhook(message, bad).error().code, "INVALID_WEBHOOK_SECRET");
    EXPECT_EQ(sign_webhook(message, secret, bad).error().code, "INVALID_WEBHOOK_SECRET");
    EXPECT_EQ(sign_webhook(message, secret, secret, bad).error().code, "INVALID_WEBHOOK_SECRET");
  }
}

TEST(WebhookSignature, TheVendorSignatureCoversEveryBitOfTheBody) {
  EXPECT_TRUE(verify_vendor_signature(secret, vendor, message.body));
  for (std::size_t bit = 0; bit < message.body.size() * 8; ++bit) {
    std::string body(message.body);
    body[bit / 8] = static_cast<char>(body[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(verify_vendor_signature(secret, vendor, body)) << bit;
  }
  EXPECT_FALSE(verify_vendor_signature(secret, vendor, std::string(message.body) + "\n"));
  for (const auto& header : {std::string(), std::string("sha256="), std::string(vendor.substr(7)),
                             std::string(vendor.substr(0, 70)), std::string(vendor) + "0",
                             "sha1=" + std::string(vendor.substr(7))}) {
    EXPECT_FALSE(verify_vendor_signature(secret, header, message.body)) << header;
  }
}

TEST(WebhookSignature, TheStandardSignatureCoversIdTimestampAndBody) {
  EXPECT_EQ(verdict(headers), WebhookVerdict::valid);
  EXPECT_EQ(verdict({"msg_other", headers.timestamp, headers.signature}), WebhookVerdict::not_matching);
  EXPECT_EQ(verdict({headers.id, "1614265331", headers.signature}), WebhookVerdict::not_matching);
  EXPECT_EQ(verdict({headers.id, "01614265330", headers.signature}), WebhookVerdict::not_matching);
  EXPECT_EQ(verdict(headers, R"({"test": 2432232315})"), WebhookVerdict::not_matching);
}

TEST(WebhookSignature, TheStandardHeaderMayCarryOtherVersionsAndNonsenseBesides) {
  const auto with = [&](const std::string& text) { return verdict({headers.id, headers.timestamp, text}); };
  EXPECT_EQ(with("v1a,xyz v2,abc  " + std::string(standard) + " v1,"), WebhookVerdict::valid);
  for (const auto& text :
       {std::string(), std::string(" "), std::string("v1,"), std::string(standard.substr(3)),
        "v2," + std::string(standard.substr(3)), std::string(standard.substr(0, 46)),
        std::string(standard) + "," + std::string(standard)}) {
    EXPECT_EQ(with(text), WebhookVerdict::not_matching) << text;
  }
}

TEST(WebhookSignature, TheStandardTimestampIsBoundedOnBothSides) {
  const auto sent = message.timestamp_s;
  EXPECT_EQ(verdict(headers, message.body, at(sent + 300)), WebhookVerdict::valid);
  EXPECT_EQ(verdict(headers, message.body, at(sent + 301)), WebhookVerdict::stale);
  EXPECT_EQ(verdict(headers, message.body, at(sent - 300)), WebhookVerdict::valid);
  EXPECT_EQ(verdict(headers, message.body, at(sent - 301)), WebhookVerdict::in_future);
  EXPECT_EQ(verify_standard_signature(secret, headers, message.body, at(sent + 11), std::chrono::seconds{10}),
            WebhookVerdict::stale);
}

TEST(WebhookSignature, ATimestampThatIsNoneIsMalformed) {
  for (const auto* text : {"", " 1614265330", "1614265330 ", "1614265330.0", "0x10", "+1614265330", "-1",
                           "now", "99999999999999999999", "9223372036854775807"}) {
    EXPECT_EQ(verdict({headers.id, text, headers.signature}), WebhookVerdict::malformed) << text;
  }
  EXPECT_EQ(verify_standard_signature("nonsense", headers, message.body, at(message.timestamp_s)),
            WebhookVerdict::malformed);
}

}  // namespace
}  // namespace presetbridge::crypto
