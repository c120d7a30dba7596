#include "identity/token_verifier.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>

#include "crypto/encoding.h"
#include "identity/testing.h"

namespace presetbridge::identity {
namespace {

namespace json = boost::json;
using crypto::JwsAlgorithm;
using crypto::PrivateJwk;

// Keys that a test hands out and changes, and how often they were asked for anew.
class FakeIssuer final : public Issuer {
 public:
  explicit FakeIssuer(std::string iss) : iss_(std::move(iss)) {}
  const std::string& iss() const override { return iss_; }
  const std::string& audience() const override { return audience_; }
  Task<Expected<Keys>> keys(Executor&) override { co_return known; }
  Task<Expected<Keys>> fresh_keys(Executor&) override {
    ++refetched;
    co_return fresh;
  }
  bool makes_sessions() const override { return ours; }
  Keys known, fresh;
  int refetched = 0;
  bool ours = false;

 private:
  std::string iss_;
  std::string audience_ = "client";
};

Keys set_of(const PrivateJwk& key) {
  return std::make_shared<const crypto::JwkSet>(std::vector{key.public_key()});
}

class TokenVerifierTest : public ::testing::Test {
 protected:
  TokenVerifierTest() {
    issuer_.known = issuer_.fresh = set_of(key_);
    other_.known = other_.fresh = set_of(PrivateJwk::generate(JwsAlgorithm::es256));
  }

  std::int64_t now() { return to_unix_ms(world_.clock().now()) / 1000; }
  json::object claims() {
    return {{"iss", "https://id.example"}, {"sub", "person-1"},       {"aud", "client"}, {"iat", now()},
            {"exp", now() + 3600},         {"email", "a@example.com"}};
  }
  Expected<VerifiedToken> verify(std::string token) {
    return world_.await(verifier_.verify(world_.scheduler, std::move(token)));
  }
  Expected<VerifiedToken> verify(const json::object& c) { return verify(key_.sign(json::serialize(c))); }

  testing::World world_;
  PrivateJwk key_ = PrivateJwk::generate(JwsAlgorithm::es256);
  FakeIssuer issuer_{"https://id.example"};
  FakeIssuer other_{"https://other.example"};
  TokenVerifier verifier_{{&issuer_, &other_}, world_.clock()};
};

TEST_F(TokenVerifierTest, AGoodTokenNamesItsSubject) {
  const auto token = verify(claims());
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->iss, "https://id.example");
  EXPECT_EQ(token->sub, "person-1");
  EXPECT_EQ(token->email, "a@example.com");
  EXPECT_EQ(to_unix_ms(token->expires_at), (now() + 3600) * 1000);
}

TEST_F(TokenVerifierTest, OnlyTheBuiltInIssuerNamesASessionOfOurs) {
  auto named = claims();
  named["sid"] = to_string(SessionId{4711});
  auto token = verify(named);
  ASSERT_TRUE(token);
  EXPECT_FALSE(token->session) << "anybody's issuer may say that";
  issuer_.ours = true;
  token = verify(named);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->session, SessionId{4711});
  for (const json::value& odd :
       {json::value("ses_x"), json::value(4711), json::value(""), json::value(nullptr)}) {
    named["sid"] = odd;
    EXPECT_FALSE(verify(named)) << json::serialize(odd);
  }
}

TEST_F(TokenVerifierTest, WhenAPersonSignedInIsATimeThatHasBeen) {
  auto stated = claims();
  EXPECT_FALSE(verify(stated)->auth_time);
  stated["auth_time"] = now() - 700;
  EXPECT_EQ(verify(stated)->auth_time, from_unix_ms((now() - 700) * 1000));
  stated["auth_time"] = now() + 59;
  EXPECT_TRUE(verify(stated)) << "clocks differ";
  for (const json::value& odd :
       {json::value(now() + 62), json::value("now"), json::value(-1), json::value(nullptr)}) {
    stated["auth_time"] = odd;
    EXPECT_FALSE(verify(stated)) << json::serialize(odd);
  }
}

TEST_F(TokenVerifierTest, AnRsaKeyVerifiesToo) {
  const auto rsa = PrivateJwk::generate(JwsAlgorithm::rs256);
  issuer_.known = set_of(rsa);
  EXPECT_TRUE(verify(rsa.sign(json::serialize(claims()))));
}

TEST_F(TokenVerifierTest, EveryClaimIsJudged) {
  using Change = std::function<void(json::object&)>;
  const auto t = now();
  const std::vector<std::pair<std::string, Change>> wrong = {
      {"another issuer", [](auto& c) { c["iss"] = "https://id.example/"; }},
      {"an issuer that is trusted, but not this key's", [](auto& c) { c["iss"] = "https://other.example"; }},
      {"no issuer", [](auto& c) { c.erase("iss"); }},
      {"another audience", [](auto& c) { c["aud"] = "client2"; }},
      {"no audience", [](auto& c) { c.erase("aud"); }},
      {"an empty list of audiences", [](auto& c) { c["aud"] = json::array{}; }},
      {"audiences without ours", [](auto& c) { c["aud"] = json::array{"x", 7}; }},
      {"no subject", [](auto& c) { c.erase("sub"); }},
      {"an empty subject", [](auto& c) { c["sub"] = ""; }},
      {"a subject that is a number", [](auto& c) { c["sub"] = 7; }},
      {"a subject with U+0000", [](auto& c) { c["sub"] = std::string("a\0b", 3); }},
      {"a subject too long", [](auto& c) { c["sub"] = std::string(256, 'a'); }},
      {"expired", [t](auto& c) { c["exp"] = t - 60; }},
      {"no expiry", [](auto& c) { c.erase("exp"); }},
      {"an expiry that is text", [t](auto& c) { c["exp"] = std::to_string(t + 60); }},
      {"an expiry beyond all time", [](auto& c) { c["exp"] = 1e300; }},
      {"issued in the future", [t](auto& c) { c["iat"] = t + 61; }},
      {"no time of issue", [](auto& c) { c.erase("iat"); }},
      {"not yet valid", [t](auto& c) { c["nbf"] = t + 61; }},
      {"a start that is text", [](auto& c) { c["nbf"] = "soon"; }},
  };
  for (const auto& [what, change] : wrong) {
    auto c = claims();
    change(c);
    const auto token = verify(c);
    ASSERT_FALSE(token) << what;
    EXPECT_EQ(token.error().code, "UNAUTHORIZED") << what;
  }
  const std::vector<std::pair<std::string, Change>> right = {
      {"among other audiences", [](auto& c) { c["aud"] = json::array{"x", "client"}; }},
      {"expired within the leeway", [t](auto& c) { c["exp"] = t - 59; }},
      {"issued ahead within the leeway", [t](auto& c) { c["iat"] = t + 60; }},
      {"starts within the leeway", [t](auto& c) { c["nbf"] = t + 60; }},
      {"a fraction of a second", [t](auto& c) { c["exp"] = static_cast<double>(t) + 100.5; }},
      {"no e-mail", [](auto& c) { c.erase("email"); }},
      {"an e-mail of another type", [](auto& c) { c["email"] = true; }},
  };
  for (const auto& [what, change] : right) {
    auto c = claims();
    change(c);
    EXPECT_TRUE(verify(c)) << what;
  }
}

TEST_F(TokenVerifierTest, WhatIsNoTokenIsRefused) {
  const auto good = key_.sign(json::serialize(claims()));
  const auto dot = good.rfind('.');
  const auto none = crypto::base64url_encode(R"({"alg":"none"})") + "." +
                    crypto::base64url_encode(json::serialize(claims())) + ".";
  for (const std::string& text : {std::string(), std::string("x"), std::string(".."), std::string("a.b.c"),
                                  none, good.substr(0, dot), good.substr(0, dot + 1), good + "A", good + ".x",
                                  std::string(20'000, 'a'), key_.sign("[]"), key_.sign("not json")}) {
    const auto token = verify(text);
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().code, "UNAUTHORIZED") << text;
  }
  // Another key under the same name.
  auto forged = PrivateJwk::generate(JwsAlgorithm::es256).sign(json::serialize(claims()));
  EXPECT_FALSE(verify(good.substr(0, dot) + forged.substr(forged.rfind('.'))));
  EXPECT_TRUE(verify(good));
}

TEST_F(TokenVerifierTest, AnUnknownKeyIsAskedForOnce) {
  const auto next = PrivateJwk::generate(JwsAlgorithm::es256);
  issuer_.fresh = std::make_shared<const crypto::JwkSet>(std::vector{key_.public_key(), next.public_key()});
  EXPECT_TRUE(verify(next.sign(json::serialize(claims()))));
  EXPECT_EQ(issuer_.refetched, 1);
  EXPECT_FALSE(verify(PrivateJwk::generate(JwsAlgorithm::es256).sign(json::serialize(claims()))));
  EXPECT_EQ(issuer_.refetched, 2);
  EXPECT_TRUE(verify(claims()));
  EXPECT_EQ(issuer_.refetched, 2) << "a known key asks nobody";
}

}  // namespace
}  // namespace presetbridge::identity
