#include "payments/stripe_signature.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::payments {
namespace {

constexpr std::int64_t kNow = 1'790'000'000;
const Timestamp kNowTime = from_unix_ms(kNow * 1'000);

std::string signature(std::int64_t at, const std::string& body, const std::string& secret) {
  return crypto::hex_encode(crypto::hmac_sha256(secret, std::to_string(at) + "." + body));
}
std::string header(std::int64_t at, const std::string& body, const std::string& secret) {
  return "t=" + std::to_string(at) + ",v1=" + signature(at, body, secret);
}
std::vector<crypto::SecretString> secrets(std::initializer_list<const char*> texts) {
  std::vector<crypto::SecretString> all;
  for (const auto* text : texts) all.emplace_back(text);
  return all;
}

class StripeSignature : public ::testing::Test {
 protected:
  StripeVerdict verify(const std::string& of, const std::string& body = "{}") {
    return verify_stripe(of, body, secrets_, kNowTime);
  }
  std::vector<crypto::SecretString> secrets_ = secrets({"whsec_new", "whsec_old"});
};

TEST_F(StripeSignature, IsOfTheBodyAndTheTimeUnderAnyOfTheSecrets) {
  EXPECT_EQ(verify(header(kNow, "{}", "whsec_new")), StripeVerdict::valid);
  EXPECT_EQ(verify(header(kNow, "{}", "whsec_old")), StripeVerdict::valid);
  EXPECT_EQ(verify(header(kNow, "{}", "whsec_other")), StripeVerdict::not_matching);
  EXPECT_EQ(verify(header(kNow, "{}", "whsec_new"), "{} "), StripeVerdict::not_matching);
  const auto moved = "t=" + std::to_string(kNow + 1) + ",v1=" + signature(kNow, "{}", "whsec_new");
  EXPECT_EQ(verify(moved), StripeVerdict::not_matching);
  secrets_.clear();
  EXPECT_EQ(verify(header(kNow, "{}", "")), StripeVerdict::not_matching) << "nobody's secret is no secret";
}

TEST_F(StripeSignature, StandsAmongOthersOfOtherSchemes) {
  const auto good = signature(kNow, "{}", "whsec_old");
  const auto time = "t=" + std::to_string(kNow);
  EXPECT_EQ(verify(time + ",v1=" + signature(kNow, "{}", "whsec_gone") + ",v1=" + good + ",v0=abc"),
            StripeVerdict::valid);
  EXPECT_EQ(verify("v1=" + good + "," + time), StripeVerdict::valid);
  EXPECT_EQ(verify(time + ",v0=" + good), StripeVerdict::malformed);
  EXPECT_EQ(verify(time + ",v2=" + good), StripeVerdict::malformed);
}

TEST_F(StripeSignature, IsGoodForFiveMinutesEitherWay) {
  EXPECT_EQ(verify(header(kNow - 300, "{}", "whsec_new")), StripeVerdict::valid);
  EXPECT_EQ(verify(header(kNow - 301, "{}", "whsec_new")), StripeVerdict::stale);
  EXPECT_EQ(verify(header(kNow + 300, "{}", "whsec_new")), StripeVerdict::valid);
  EXPECT_EQ(verify(header(kNow + 301, "{}", "whsec_new")), StripeVerdict::in_future);
}

TEST_F(StripeSignature, IsNothingElse) {
  const auto good = header(kNow, "{}", "whsec_new");
  for (const auto& text : {
           std::string(),
           std::string("t"),
           std::string("t=,v1="),
           std::string("=,="),
           std::string(",,,"),
           std::string("t=1790000000"),
           "t=-1,v1=" + std::string(64, 'a'),
           "t=1e9,v1=" + std::string(64, 'a'),
           "t= 1790000000,v1=" + std::string(64, 'a'),
           "t=9223372036854775807,v1=" + std::string(64, 'a'),
           "t=1790000000,v1=" + std::string(63, 'a'),
           "t=1,t=1790000000,v1=" + std::string(64, 'a'),
           good + "," + std::string(4'096, 'x'),
       })
    EXPECT_EQ(verify(text), StripeVerdict::malformed) << text.substr(0, 80);
  // Any number of them costs no more than a few comparisons.
  std::string many = "t=" + std::to_string(kNow);
  for (int i = 0; i < 50; ++i) many += ",v1=" + std::string(64, 'b');
  EXPECT_EQ(verify(many), StripeVerdict::not_matching);
}

}  // namespace
}  // namespace presetbridge::payments
