#include "crypto/webhook_signature.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

// The example of the Standard Webhooks libraries; the vendor signature was computed with another HMAC
// implementation.
constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr WebhookMessage kMessage{"msg_p5jXN8AQM9LWM0D4loKWxJek", 1'614'265'330, R"({"test": 2432232314})"};
constexpr std::string_view kStandard = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
constexpr std::string_view kVendor =
    "sha256=80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c";
constexpr StandardWebhookHeaders kHeaders{kMessage.id, "1614265330", kStandard};

Timestamp at(std::int64_t unix_s) {
  return from_unix_ms(unix_s * 1000);
}

WebhookVerdict verdict(StandardWebhookHeaders h, std::string_view body = kMessage.body,
                       Timestamp now = at(kMessage.timestamp_s)) {
  return verify_standard_signature(kSecret, h, body, now);
}

TEST(WebhookSignature, IsThatOfTheStandardWebhooksLibraries) {
  const auto signatures = sign_webhook(kMessage, kSecret);
  ASSERT_TRUE(signatures);
  EXPECT_EQ(signatures->standard, kStandard);
  EXPECT_EQ(signatures->vendor, kVendor);
  EXPECT_FALSE(signatures->vendor_previous);
}

TEST(WebhookSignature, ARotationSignsWithBothSecrets) {
  testing::SeededRandom random;
  const auto fresh = generate_webhook_secret(random);
  const auto signatures = sign_webhook(kMessage, fresh, kSecret);
  ASSERT_TRUE(signatures);
  EXPECT_EQ(signatures->vendor_previous, kVendor);
  EXPECT_TRUE(verify_vendor_signature(fresh, signatures->vendor, kMessage.body));
  EXPECT_FALSE(verify_vendor_signature(kSecret, signatures->vendor, kMessage.body));
  const auto space = signatures->standard.find(' ');
  EXPECT_EQ(signatures->standard.substr(space + 1), kStandard);
  const StandardWebhookHeaders sent{kMessage.id, "1614265330", signatures->standard};
  EXPECT_EQ(verdict(sent), WebhookVerdict::valid);
  EXPECT_EQ(verify_standard_signature(fresh, sent, kMessage.body, at(kMessage.timestamp_s)),
            WebhookVerdict::valid);
  EXPECT_EQ(verify_standard_signature(generate_webhook_secret(random), sent, kMessage.body,
                                      at(kMessage.timestamp_s)),
            WebhookVerdict::not_matching);
}

TEST(WebhookSignature, TwoRotationsSignWithAllThreeSecrets) {
  testing::SeededRandom random;
  const auto fresh = generate_webhook_secret(random);
  const auto previous = generate_webhook_secret(random);
  const auto signatures = sign_webhook(kMessage, fresh, previous, kSecret);
  ASSERT_TRUE(signatures);
  EXPECT_TRUE(verify_vendor_signature(previous, signatures->vendor_previous.value(), kMessage.body));
  EXPECT_EQ(signatures->vendor_older, kVendor);
  const StandardWebhookHeaders sent{kMessage.id, "1614265330", signatures->standard};
  for (const std::string_view one : {std::string_view(fresh), std::string_view(previous), kSecret}) {
    EXPECT_EQ(verify_standard_signature(one, sent, kMessage.body, at(kMessage.timestamp_s)),
              WebhookVerdict::valid);
  }
}

TEST(WebhookSignature, SecretsAreWhsecAndBase64Of24To64Bytes) {
  testing::SeededRandom random;
  const auto generated = generate_webhook_secret(random);
  EXPECT_TRUE(is_webhook_secret(generated));
  EXPECT_EQ(generated.size(), 6u + 44u);
  EXPECT_TRUE(is_webhook_secret(kSecret));
  EXPECT_TRUE(is_webhook_secret("whsec_" + base64_encode(std::string(64, 'x'))));
  for (const auto& bad :
       {std::string(), std::string("whsec_"), std::string(kSecret.substr(6)), std::string(kSecret) + "=",
        "whsec_" + base64_encode(std::string(23, 'x')), "whsec_" + base64_encode(std::string(65, 'x')),
        "whsec_" + std::string(100'000, 'A')}) {
    EXPECT_FALSE(is_webhook_secret(bad)) << bad.size();
    EXPECT_EQ(sign_webhook(kMessage, bad).error().code, "INVALID_WEBHOOK_SECRET");
    EXPECT_EQ(sign_webhook(kMessage, kSecret, bad).error().code, "INVALID_WEBHOOK_SECRET");
    EXPECT_EQ(sign_webhook(kMessage, kSecret, kSecret, bad).error().code, "INVALID_WEBHOOK_SECRET");
  }
}

TEST(WebhookSignature, TheVendorSignatureCoversEveryBitOfTheBody) {
  EXPECT_TRUE(verify_vendor_signature(kSecret, kVendor, kMessage.body));
  for (std::size_t bit = 0; bit < kMessage.body.size() * 8; ++bit) {
    std::string body(kMessage.body);
    body[bit / 8] = static_cast<char>(body[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(verify_vendor_signature(kSecret, kVendor, body)) << bit;
  }
  EXPECT_FALSE(verify_vendor_signature(kSecret, kVendor, std::string(kMessage.body) + "\n"));
  for (const auto& header : {std::string(), std::string("sha256="), std::string(kVendor.substr(7)),
                             std::string(kVendor.substr(0, 70)), std::string(kVendor) + "0",
                             "sha1=" + std::string(kVendor.substr(7))}) {
    EXPECT_FALSE(verify_vendor_signature(kSecret, header, kMessage.body)) << header;
  }
}

TEST(WebhookSignature, TheStandardSignatureCoversIdTimestampAndBody) {
  EXPECT_EQ(verdict(kHeaders), WebhookVerdict::valid);
  EXPECT_EQ(verdict({"msg_other", kHeaders.timestamp, kHeaders.signature}), WebhookVerdict::not_matching);
  EXPECT_EQ(verdict({kHeaders.id, "1614265331", kHeaders.signature}), WebhookVerdict::not_matching);
  EXPECT_EQ(verdict({kHeaders.id, "01614265330", kHeaders.signature}), WebhookVerdict::not_matching);
  EXPECT_EQ(verdict(kHeaders, R"({"test": 2432232315})"), WebhookVerdict::not_matching);
}

TEST(WebhookSignature, TheStandardHeaderMayCarryOtherVersionsAndNonsenseBesides) {
  const auto with = [&](const std::string& text) { return verdict({kHeaders.id, kHeaders.timestamp, text}); };
  EXPECT_EQ(with("v1a,xyz v2,abc  " + std::string(kStandard) + " v1,"), WebhookVerdict::valid);
  for (const auto& text :
       {std::string(), std::string(" "), std::string("v1,"), std::string(kStandard.substr(3)),
        "v2," + std::string(kStandard.substr(3)), std::string(kStandard.substr(0, 46)),
        std::string(kStandard) + "," + std::string(kStandard)}) {
    EXPECT_EQ(with(text), WebhookVerdict::not_matching) << text;
  }
}

TEST(WebhookSignature, TheStandardTimestampIsBoundedOnBothSides) {
  const auto sent = kMessage.timestamp_s;
  EXPECT_EQ(verdict(kHeaders, kMessage.body, at(sent + 300)), WebhookVerdict::valid);
  EXPECT_EQ(verdict(kHeaders, kMessage.body, at(sent + 301)), WebhookVerdict::stale);
  EXPECT_EQ(verdict(kHeaders, kMessage.body, at(sent - 300)), WebhookVerdict::valid);
  EXPECT_EQ(verdict(kHeaders, kMessage.body, at(sent - 301)), WebhookVerdict::in_future);
  EXPECT_EQ(
      verify_standard_signature(kSecret, kHeaders, kMessage.body, at(sent + 11), std::chrono::seconds{10}),
      WebhookVerdict::stale);
}

TEST(WebhookSignature, ATimestampThatIsNoneIsMalformed) {
  for (const auto* text : {"", " 1614265330", "1614265330 ", "1614265330.0", "0x10", "+1614265330", "-1",
                           "now", "99999999999999999999", "9223372036854775807"}) {
    EXPECT_EQ(verdict({kHeaders.id, text, kHeaders.signature}), WebhookVerdict::malformed) << text;
  }
  EXPECT_EQ(verify_standard_signature("nonsense", kHeaders, kMessage.body, at(kMessage.timestamp_s)),
            WebhookVerdict::malformed);
}

}  // namespace
}  // namespace presetbridge::crypto
