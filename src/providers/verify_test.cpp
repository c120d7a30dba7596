#include "providers/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "providers/testing.h"

namespace presetbridge::providers {
namespace {

using domain::Provider;
using testing::golden;
using ::testing::HasSubstr;
using testing::headers_of;

constexpr std::array<std::string_view, 1> kSecret{"golden-secret-0123456789"};
constexpr std::array<std::string_view, 2> kRotating{"the-new-secret", "golden-secret-0123456789"};

std::string base64_signature(std::string_view body, std::string_view secret = kSecret[0]) {
  return crypto::base64_encode(crypto::hmac_sha256(secret, body));
}
std::string hex_signature(std::string_view body, std::string_view secret = kSecret[0]) {
  return "sha256=" + crypto::hex_encode(crypto::hmac_sha256(secret, body));
}
const Profile& hosted() {
  return profile_of(Provider::provider_a);
}
const Profile& plugin() {
  return profile_of(Provider::provider_b);
}
const Profile& generic_shop() {
  return profile_of(Provider::generic);
}

void expect_refused(const Expected<void>& result, std::string_view part) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, "INVALID_SIGNATURE");
  EXPECT_THAT(result.error().message, HasSubstr(std::string(part)));
}

// The expected values were computed with the openssl program and with Python's hmac.
TEST(GoldenSignatures, VerifyForEveryProvider) {
  const std::vector<std::tuple<Provider, std::string, std::string, std::string>> known = {
      {Provider::generic, "generic_order.json", "X-Webhook-Signature",
       "sha256=3af57033e3df5079c9518d53171f272b893dfad8a5d5727fffbce517b66c2ba0"},
      {Provider::generic, "generic_seed.json", "X-Webhook-Signature",
       "sha256=07a3bc0755d575af226a6182cd1056b36c6c7cb092b7bdb65bd3e6447395aedc"},
      {Provider::provider_a, "provider_a_customer_redact.json", "X-Hosted-Hmac-Sha256",
       "xTu2Dq9sW6roDjnv3cfWykgrsE6Tzt37WHsTultOpU8="},
      {Provider::provider_a, "provider_a_order.json", "X-Hosted-Hmac-Sha256",
       "ss9m/Btshhb1S2h20ndlhIlVKEwYp5tQcf/qAgMpKmQ="},
      {Provider::provider_a, "provider_a_refund.json", "X-Hosted-Hmac-Sha256",
       "Urxd2xIycvSytpf34LwR0PXc7UksqNeltDg9MggBANY="},
      {Provider::provider_a, "provider_a_risk.json", "X-Hosted-Hmac-Sha256",
       "DxBo5A1JfGyH7h1W3zqMZFrn7B7/0fuzkp1WHAvR/VQ="},
      {Provider::provider_a, "provider_a_seed.json", "X-Hosted-Hmac-Sha256",
       "/wnFJEe2qWaKEHymWk56jUQnpueK7SsqbgHeFSDEcgs="},
      {Provider::provider_b, "provider_b_deleted.json", "X-Plugin-Webhook-Signature",
       "b1QBmLSCXI7wtwX5YzwIe/7rSZz5dTRIBkEY5Up6Xs8="},
      {Provider::provider_b, "provider_b_order.json", "X-Plugin-Webhook-Signature",
       "0RWs7ygKC6jT/DT6kx3O9sX11/elqPsiCMsQz5JEqXI="},
      {Provider::provider_b, "provider_b_seed.json", "X-Plugin-Webhook-Signature",
       "SzfSILRgbpPtZSiaSNVkKSzEyaI/RPCBPDz32P5rwW4="},
  };
  for (const auto& [provider, file, header, signature] : known) {
    const auto body = golden(file);
    EXPECT_TRUE(verify(profile_of(provider), headers_of({{header, signature}}), body, kSecret)) << file;
    expect_refused(verify(profile_of(provider), headers_of({{header, signature}}), body + "\n", kSecret),
                   "does not match");
  }
}

TEST(Verify, TakesTheNeutralAndTheRealHeaderName) {
  const std::string body = "{\"id\":1}";
  for (const auto* profile : {&hosted(), &plugin()}) {
    for (const auto name : profile->signature_headers) {
      EXPECT_TRUE(verify(*profile, headers_of({{std::string(name), base64_signature(body)}}), body, kSecret));
    }
  }
  for (const auto name : generic_shop().signature_headers) {
    EXPECT_TRUE(
        verify(generic_shop(), headers_of({{std::string(name), hex_signature(body)}}), body, kSecret));
  }
}

TEST(Verify, RefusesAnotherSecret) {
  const std::string body = "{\"id\":1}";
  expect_refused(verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", base64_signature(body, "other")}}),
                        body, kSecret),
                 "does not match");
}

TEST(Verify, RefusesEveryAlteredByteOfTheBody) {
  const auto body = golden("provider_a_seed.json");
  const auto headers = headers_of({{"X-Hosted-Hmac-Sha256", base64_signature(body)}});
  ASSERT_TRUE(verify(hosted(), headers, body, kSecret));
  for (std::size_t i = 0; i < body.size(); ++i) {
    auto altered = body;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    expect_refused(verify(hosted(), headers, altered, kSecret), "does not match");
  }
}

TEST(Verify, RefusesEveryAlteredByteOfTheSignature) {
  const std::string body = "{\"id\":1}";
  for (const auto* profile : {&hosted(), &generic_shop()}) {
    const auto signature = profile == &hosted() ? base64_signature(body) : hex_signature(body);
    for (std::size_t i = 0; i < signature.size(); ++i) {
      auto altered = signature;
      altered[i] = altered[i] == '0' ? '1' : '0';
      EXPECT_FALSE(verify(*profile, headers_of({{std::string(profile->signature_headers[0]), altered}}), body,
                          kSecret));
    }
  }
}

TEST(Verify, NamesTheMissingHeader) {
  expect_refused(verify(hosted(), headers_of({}), "{}", kSecret),
                 "missing: X-Hosted-Hmac-Sha256 or X-Shopify-Hmac-Sha256");
  // Another provider's header is not one of ours.
  expect_refused(
      verify(generic_shop(), headers_of({{"X-Hosted-Hmac-Sha256", base64_signature("{}")}}), "{}", kSecret),
      "missing");
}

TEST(Verify, RefusesAnEmptyHeader) {
  expect_refused(verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", ""}}), "{}", kSecret), "Base64");
}

TEST(Verify, RefusesWhenOneOfTwoHeadersIsWrong) {
  const std::string body = "{\"orderId\":\"1\"}";
  const auto right = hex_signature(body);
  const auto wrong = hex_signature(body, "other");
  EXPECT_TRUE(verify(generic_shop(),
                     headers_of({{"X-Webhook-Signature", right}, {"X-Vendor-Signature", right}}), body,
                     kSecret));
  expect_refused(
      verify(generic_shop(), headers_of({{"X-Webhook-Signature", right}, {"X-Vendor-Signature", wrong}}),
             body, kSecret),
      "X-Vendor-Signature does not match");
  expect_refused(
      verify(generic_shop(), headers_of({{"X-Webhook-Signature", wrong}, {"X-Vendor-Signature", right}}),
             body, kSecret),
      "X-Webhook-Signature does not match");
  expect_refused(
      verify(generic_shop(), headers_of({{"X-Webhook-Signature", right}, {"x-webhook-signature", wrong}}),
             body, kSecret),
      "does not match");
  expect_refused(
      verify(generic_shop(), headers_of({{"X-Webhook-Signature", right}, {"X-Vendor-Signature", "sha256="}}),
             body, kSecret),
      "64 hexadecimal digits");
}

TEST(Verify, TakesTheSecretBeforeWhileARotationOverlaps) {
  const std::string body = "{\"id\":1}";
  EXPECT_TRUE(
      verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", base64_signature(body)}}), body, kRotating));
  EXPECT_TRUE(verify(hosted(),
                     headers_of({{"X-Hosted-Hmac-Sha256", base64_signature(body, "the-new-secret")}}), body,
                     kRotating));
  expect_refused(verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", base64_signature(body, "third")}}),
                        body, kRotating),
                 "does not match");
}

TEST(Verify, NeverAcceptsAnEmptySecretOrNone) {
  const std::string body = "{\"id\":1}";
  constexpr std::array<std::string_view, 1> empty{""};
  const auto headers = headers_of({{"X-Hosted-Hmac-Sha256", base64_signature(body, "")}});
  expect_refused(verify(hosted(), headers, body, empty), "does not match");
  expect_refused(verify(hosted(), headers, body, {}), "does not match");
}

TEST(Verify, TakesHexadecimalDigitsInEitherCaseButThePrefixExactly) {
  const std::string body = "{\"orderId\":\"1\"}";
  auto upper = hex_signature(body);
  std::ranges::transform(upper.begin() + 7, upper.end(), upper.begin() + 7,
                         [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  ASSERT_NE(upper, hex_signature(body));
  EXPECT_TRUE(verify(generic_shop(), headers_of({{"X-Webhook-Signature", upper}}), body, kSecret));
  const auto digits = hex_signature(body).substr(7);
  for (const auto& bad : {digits, "SHA256=" + digits, "sha256:" + digits, "sha256= " + digits,
                          "sha256=" + digits + " ", "sha256=" + digits + "00", "sha256=" + digits.substr(2),
                          "sha256=" + digits.substr(1) + "g", "sha256=sha256=" + digits}) {
    expect_refused(verify(generic_shop(), headers_of({{"X-Webhook-Signature", bad}}), body, kSecret),
                   "64 hexadecimal digits");
  }
}

TEST(Verify, RefusesBase64ThatIsCutUrlSafeOrUnpadded) {
  const std::string body = golden("provider_a_seed.json");
  const auto right = base64_signature(body);
  for (std::size_t length = 0; length < right.size(); ++length) {
    expect_refused(
        verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", right.substr(0, length)}}), body, kSecret),
        "Base64");
  }
  for (const auto& bad : {right + "=", right + "AAAA", " " + right, right + "\n", "sha256=" + right,
                          crypto::hex_encode(crypto::hmac_sha256(kSecret[0], body)), right + ", " + right}) {
    expect_refused(verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", bad}}), body, kSecret), "Base64");
  }
}

TEST(Verify, SignsTheEmptyBodyToo) {
  EXPECT_TRUE(verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", base64_signature("")}}), "", kSecret));
  expect_refused(
      verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", base64_signature("{}")}}), "", kSecret),
      "does not match");
}

TEST(Verify, ReportsNothingOfSecretsOrExpectedSignatures) {
  const std::string body = "{}";
  const auto result = verify(
      hosted(), headers_of({{"X-Hosted-Hmac-Sha256", base64_signature(body, "other")}}), body, kSecret);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, ::testing::Not(HasSubstr(std::string(kSecret[0]))));
  EXPECT_THAT(result.error().message, ::testing::Not(HasSubstr(base64_signature(body))));
}

TEST(Verify, NeverAcceptsAnArbitraryHeader) {
  EXPECT_TRUE(rc::check([](const std::string& header, const std::string& body) {
    RC_ASSERT(!verify(hosted(), headers_of({{"X-Hosted-Hmac-Sha256", header}}), body, kSecret));
    RC_ASSERT(
        !verify(generic_shop(), headers_of({{"X-Vendor-Signature", "sha256=" + header}}), body, kSecret));
  }));
}

TEST(UnsignedPing, IsExactlyAWebhookIdOfOneToTwentyDigits) {
  EXPECT_TRUE(is_unsigned_ping(plugin(), golden("provider_b_ping.txt")));
  EXPECT_TRUE(is_unsigned_ping(plugin(), "webhook_id=1"));
  EXPECT_TRUE(is_unsigned_ping(plugin(), "webhook_id=12345678901234567890"));
  for (const std::string_view bad :
       {"", "webhook_id=", "webhook_id=123456789012345678901", "webhook_id=1a", "webhook_id=-1",
        "webhook_id=1 ", "webhook_id=1\n", " webhook_id=1", "webhook_id=1&x=2", "x=2&webhook_id=1",
        "Webhook_id=1", "webhook_id==1", "{\"webhook_id\":1}"}) {
    EXPECT_FALSE(is_unsigned_ping(plugin(), bad)) << bad;
  }
}

TEST(UnsignedPing, IsKnownToTheirProviderOnly) {
  EXPECT_FALSE(is_unsigned_ping(hosted(), "webhook_id=1"));
  EXPECT_FALSE(is_unsigned_ping(generic_shop(), "webhook_id=1"));
}

}  // namespace
}  // namespace presetbridge::providers
