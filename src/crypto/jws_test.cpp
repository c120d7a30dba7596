#include "crypto/jws.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <thread>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

constexpr std::array kBoth{JwsAlgorithm::rs256, JwsAlgorithm::es256};
constexpr std::array kOnlyRs256{JwsAlgorithm::rs256};
constexpr std::array kOnlyEs256{JwsAlgorithm::es256};

// RFC 7515, appendix A.3.
constexpr std::string_view kRfcEs256Jwk =
    R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
    R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})";
constexpr std::string_view kRfcPayload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
constexpr std::string_view kRfcEs256Signature =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
// RFC 7515, appendix A.2.
constexpr std::string_view kRfcRs256Jwk =
    R"({"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJP)"
    R"(MEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9)"
    R"(e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2eth)"
    R"(FkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"})";
constexpr std::string_view kRfcRs256Signature =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
    "O8W2Fp5jujGbds9uJdbF9CUAr7t1d"
    "nZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO-"
    "-xi12jzDwu"
    "sC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_"
    "IoypGlUPQGe77Rw";

std::string code_of(const Expected<std::string>& result) {
  return result ? "valid" : result.error().code;
}

JwkSet set_of(std::string_view jwk) {
  return JwkSet({*PublicJwk::parse(jwk)});
}

// Generating RSA keys is slow; one serves all tests.
const PrivateJwk& rsa() {
  static const PrivateJwk key = PrivateJwk::generate(JwsAlgorithm::rs256);
  return key;
}

struct Parts {
  explicit Parts(const std::string& token)
      : header(token.substr(0, token.find('.'))),
        payload(token.substr(header.size() + 1, token.rfind('.') - header.size() - 1)),
        signature(token.substr(token.rfind('.') + 1)) {}
  std::string token() const { return header + "." + payload + "." + signature; }
  std::string header, payload, signature;
};

std::string with_header(const std::string& token, std::string_view header) {
  Parts parts(token);
  parts.header = base64url_encode(header);
  return parts.token();
}

class Jws : public ::testing::Test {
 protected:
  PrivateJwk key_ = PrivateJwk::generate(JwsAlgorithm::es256);
  JwkSet set_{{key_.public_key()}};
  std::string token_ = key_.sign(R"({"sub":"usr_1"})");
};

TEST(JwsKnownAnswers, VerifiesTheExamplesOfRfc7515) {
  const auto es256 =
      "eyJhbGciOiJFUzI1NiJ9." + std::string(kRfcPayload) + "." + std::string(kRfcEs256Signature);
  const auto rs256 =
      "eyJhbGciOiJSUzI1NiJ9." + std::string(kRfcPayload) + "." + std::string(kRfcRs256Signature);
  const auto payload = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";
  EXPECT_EQ(set_of(kRfcEs256Jwk).verify(es256, kBoth), payload);
  EXPECT_EQ(set_of(kRfcRs256Jwk).verify(rs256, kBoth), payload);
  EXPECT_EQ(code_of(set_of(kRfcRs256Jwk).verify(es256, kBoth)), "TOKEN_KEY_UNKNOWN");
}

TEST(JwsKnownAnswers, TheThumbprintIsThatOfRfc7638) {
  const auto key = PublicJwk::parse(
      R"({"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZ)"
      R"(CiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6)"
      R"(qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",)"
      R"("e":"AQAB","alg":"RS256","kid":"2011-04-29"})");
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
  EXPECT_EQ(key->kid(), "2011-04-29");
}

// A key of the set `key` is in, with these members too.
std::string set_with(const PublicJwk& key, std::string_view members) {
  auto jwk = boost::json::parse(key.to_json()).as_object();
  jwk.erase("use");
  for (auto& member : boost::json::parse(members).as_object()) jwk[member.key()] = member.value();
  return boost::json::serialize(boost::json::object{{"keys", boost::json::array{jwk}}});
}

TEST_F(Jws, IsVerifiedOnlyByAKeyThatIsForVerifying) {
  const auto code = [&](std::string_view members) {
    return code_of(JwkSet::parse(set_with(key_.public_key(), members)).value().verify(token_, kBoth));
  };
  for (const auto* good : {R"({})", R"({"use":"sig"})", R"({"key_ops":["verify"]})",
                           R"({"key_ops":["sign","verify"],"use":"sig"})"}) {
    EXPECT_EQ(code(good), "valid") << good;
  }
  for (const auto* bad : {R"({"use":"enc"})", R"({"key_ops":[]})", R"({"key_ops":["sign"]})",
                          R"({"key_ops":["encrypt","wrapKey"]})", R"({"key_ops":"verify"})",
                          R"({"key_ops":null})", R"({"key_ops":["verify",1]})", R"({"key_ops":["Verify"]})",
                          R"({"use":"enc","key_ops":["verify"]})"}) {
    EXPECT_EQ(code(bad), "TOKEN_KEY_UNKNOWN") << bad;
  }
}

TEST_F(Jws, IsSignedOnlyWithAKeyThatIsForSigning) {
  const auto parse = [&](std::string_view operations) {
    auto jwk = boost::json::parse(key_.reveal_json().reveal()).as_object();
    jwk["key_ops"] = boost::json::parse(operations);
    return PrivateJwk::parse(SecretString(boost::json::serialize(jwk))).has_value();
  };
  EXPECT_TRUE(parse(R"(["sign"])"));
  EXPECT_TRUE(parse(R"(["verify","sign"])"));
  EXPECT_FALSE(parse(R"(["verify"])"));
  EXPECT_FALSE(parse(R"(["decrypt"])"));
}

TEST_F(Jws, GivesThePayloadBackByteForByte) {
  for (const auto& payload :
       {std::string(), std::string("{}"), std::string("\0\xff.", 3), std::string(8000, 'x')}) {
    EXPECT_EQ(set_.verify(key_.sign(payload), kBoth), payload);
    EXPECT_EQ(JwkSet({rsa().public_key()}).verify(rsa().sign(payload), kBoth), payload);
  }
  EXPECT_EQ(set_.verify(key_.sign(std::string_view()), kBoth), "");
}

TEST_F(Jws, NamesAlgorithmKeyAndTypeInItsHeader) {
  const auto bytes = base64url_decode(Parts(token_).header);
  ASSERT_TRUE(bytes);
  const auto header = boost::json::parse(text_of(*bytes)).as_object();
  EXPECT_EQ(header.size(), 3u);
  EXPECT_EQ(header.at("alg").as_string(), "ES256");
  EXPECT_EQ(header.at("typ").as_string(), "JWT");
  EXPECT_EQ(header.at("kid").as_string(), key_.kid());
  EXPECT_EQ(key_.kid(), key_.public_key().thumbprint());
}

TEST_F(Jws, IsRefusedWithAnyCharacterChanged) {
  for (std::size_t i = 0; i < token_.size(); ++i) {
    for (const char c : {'A', 'x', '.', '='}) {
      auto changed = token_;
      if (changed[i] == c) continue;
      changed[i] = c;
      EXPECT_FALSE(set_.verify(changed, kBoth)) << i << c;
    }
  }
}

TEST_F(Jws, IsRefusedWithAnyBitOfASignatureChangedAndWithASignatureOfAnotherSize) {
  const auto check = [](const JwkSet& set, const std::string& token) {
    Parts parts(token);
    const auto good = *base64url_decode(parts.signature);
    for (std::size_t bit = 0; bit < good.size() * 8; bit += good.size() > 64 ? 7 : 1) {
      auto changed = good;
      changed[bit / 8] ^= std::byte{1} << (bit % 8);
      parts.signature = base64url_encode(changed);
      EXPECT_EQ(code_of(set.verify(parts.token(), kBoth)), "TOKEN_SIGNATURE_INVALID") << bit;
    }
    auto longer = good;
    longer.push_back(std::byte{0});  // cjose itself would accept an ES256 signature with one byte more
    parts.signature = base64url_encode(longer);
    EXPECT_EQ(code_of(set.verify(parts.token(), kBoth)), "TOKEN_SIGNATURE_INVALID");
    parts.signature = base64url_encode(std::span(good).first(good.size() - 1));
    EXPECT_EQ(code_of(set.verify(parts.token(), kBoth)), "TOKEN_SIGNATURE_INVALID");
    parts.signature = "";
    EXPECT_EQ(code_of(set.verify(parts.token(), kBoth)), "TOKEN_SIGNATURE_INVALID");
    parts.signature = base64url_encode(std::string(good.size(), '\0'));
    EXPECT_EQ(code_of(set.verify(parts.token(), kBoth)), "TOKEN_SIGNATURE_INVALID");
  };
  check(set_, token_);
  check(JwkSet({rsa().public_key()}), rsa().sign("{}"));
}

TEST_F(Jws, RefusesNoneAndSymmetricAndOtherAlgorithms) {
  for (const auto* alg : {"none", "None", "HS256", "HS384", "HS512", "PS256", "RS384", "RS512", "ES384",
                          "ES512", "es256", "ES256 "}) {
    const auto header = std::string(R"({"alg":")") + alg + R"(","kid":")" + key_.kid() + R"("})";
    EXPECT_EQ(code_of(set_.verify(with_header(token_, header), kBoth)), "TOKEN_ALGORITHM_REFUSED") << alg;
    auto unsigned_token = Parts(with_header(token_, header));
    unsigned_token.signature = "";
    EXPECT_EQ(code_of(set_.verify(unsigned_token.token(), kBoth)), "TOKEN_ALGORITHM_REFUSED") << alg;
  }
}

// The classic confusion: the public key as an HMAC secret.
TEST_F(Jws, RefusesAnHmacUnderThePublicKey) {
  auto parts = Parts(with_header(token_, R"({"alg":"HS256","kid":")" + key_.kid() + R"("})"));
  parts.signature =
      base64url_encode(hmac_sha256(key_.public_key().to_json(), parts.header + "." + parts.payload));
  EXPECT_EQ(code_of(set_.verify(parts.token(), kBoth)), "TOKEN_ALGORITHM_REFUSED");
}

TEST_F(Jws, RefusesAnAlgorithmThatTheCallerOrTheNamedKeyDoesNotHave) {
  EXPECT_EQ(code_of(set_.verify(token_, kOnlyRs256)), "TOKEN_ALGORITHM_REFUSED");
  EXPECT_EQ(code_of(set_.verify(token_, {})), "TOKEN_ALGORITHM_REFUSED");
  const auto other = R"({"alg":"RS256","kid":")" + key_.kid() + R"("})";
  EXPECT_EQ(code_of(set_.verify(with_header(token_, other), kBoth)), "TOKEN_ALGORITHM_REFUSED");
}

TEST_F(Jws, DistinguishesAnUnknownKey) {
  const auto stranger = PrivateJwk::generate(JwsAlgorithm::es256);
  EXPECT_EQ(code_of(set_.verify(stranger.sign("{}"), kBoth)), "TOKEN_KEY_UNKNOWN");
  EXPECT_EQ(code_of(JwkSet().verify(token_, kBoth)), "TOKEN_KEY_UNKNOWN");
  const auto claimed = R"({"alg":"ES256","kid":")" + key_.kid() + R"("})";
  EXPECT_EQ(code_of(set_.verify(with_header(stranger.sign("{}"), claimed), kBoth)),
            "TOKEN_SIGNATURE_INVALID");
}

TEST(JwsWithoutKid, IsVerifiedByTheOnlyKeyThatFits) {
  const auto token =
      "eyJhbGciOiJFUzI1NiJ9." + std::string(kRfcPayload) + "." + std::string(kRfcEs256Signature);
  const auto key = *PublicJwk::parse(kRfcEs256Jwk);
  EXPECT_TRUE(JwkSet({key, rsa().public_key()}).verify(token, kBoth));
  const auto second = PrivateJwk::generate(JwsAlgorithm::es256).public_key();
  EXPECT_EQ(code_of(JwkSet({key, second}).verify(token, kBoth)), "TOKEN_KEY_UNKNOWN");
}

TEST_F(Jws, RefusesWhatIsNoCompactJws) {
  const auto parts = Parts(token_);
  const std::string bad[] = {
      "",
      ".",
      "..",
      "...",
      parts.header,
      parts.header + "." + parts.payload,
      token_ + ".",
      token_ + ".AAAA",
      "." + token_,
      token_ + "=",
      token_ + "\n",
      " " + token_,
      parts.header + "=." + parts.payload + "." + parts.signature,
      std::string(token_).insert(3, 1, '\0'),
      token_ + std::string(kMaxJwsBytes, 'A'),
      with_header(token_, ""),
      with_header(token_, "[]"),
      with_header(token_, "\"ES256\""),
      with_header(token_, "{}"),
      with_header(token_, R"({"alg":256})"),
      with_header(token_, R"({"alg":null})"),
      with_header(token_, R"({"alg":"ES256","kid":7})"),
      with_header(token_, R"({"alg":"ES256","kid":"x"}x)"),
      with_header(token_, R"({"alg":"ES256","crit":["b64"],"b64":false})"),
      with_header(token_, R"({"alg":"ES256","x":)" + std::string(2000, '[') + std::string(2000, ']') + "}"),
  };
  for (const auto& token : bad) EXPECT_EQ(code_of(set_.verify(token, kBoth)), "TOKEN_MALFORMED") << token;
}

// Each parser by itself might choose another of two members of one name; what is allowed must be what
// verifies.
TEST_F(Jws, NeverVerifiesByAnAlgorithmOtherThanTheOneJudged) {
  const auto kid = R"(,"kid":")" + key_.kid() + R"("})";
  for (const auto& header : {R"({"alg":"ES256","alg":"none")" + kid, R"({"alg":"none","alg":"ES256")" + kid,
                             R"({"alg":"HS256","alg":"ES256")" + kid}) {
    EXPECT_FALSE(set_.verify(with_header(token_, header), kOnlyEs256)) << header;
  }
}

TEST(Jwk, PrivateKeysComeBackFromTheirJson) {
  for (const auto algorithm : kBoth) {
    const auto key = algorithm == JwsAlgorithm::rs256 ? PrivateJwk::parse(rsa().reveal_json()) : [] {
      return PrivateJwk::parse(PrivateJwk::generate(JwsAlgorithm::es256).reveal_json());
    }();
    ASSERT_TRUE(key) << key.error().message;
    EXPECT_EQ(key->algorithm(), algorithm);
    EXPECT_EQ(key->kid(), key->public_key().thumbprint());
    EXPECT_EQ(JwkSet({key->public_key()}).verify(key->sign("{}"), kBoth), "{}");
  }
}

TEST(Jwk, PublicJsonHoldsKidAlgAndUseAndNothingPrivate) {
  const auto key = PrivateJwk::generate(JwsAlgorithm::es256);
  const auto json = boost::json::parse(key.public_key().to_json()).as_object();
  EXPECT_EQ(json.size(), 7u);
  EXPECT_EQ(json.at("kid").as_string(), key.kid());
  EXPECT_EQ(json.at("alg").as_string(), "ES256");
  EXPECT_EQ(json.at("use").as_string(), "sig");
  const auto rsa_json = boost::json::parse(rsa().public_key().to_json()).as_object();
  EXPECT_EQ(rsa_json.size(), 6u);
  for (const auto* name : {"d", "p", "q", "dp", "dq", "qi"}) {
    EXPECT_FALSE(json.contains(name));
    EXPECT_FALSE(rsa_json.contains(name));
  }
}

// A coordinate with leading zeros comes once in 128 keys.
TEST(Jwk, CoordinatesAlwaysHaveTheirFullLength) {
  for (int i = 0; i < 600; ++i) {
    const auto key = PrivateJwk::generate(JwsAlgorithm::es256);
    const auto json = boost::json::parse(key.reveal_json().reveal()).as_object();
    for (const auto* name : {"x", "y", "d"}) EXPECT_EQ(json.at(name).as_string().size(), 43u);
  }
}

TEST(Jwk, RefusesOtherKindsOfKeys) {
  const auto changed = [](std::string_view jwk, const char* name, boost::json::value value) {
    auto object = boost::json::parse(jwk).as_object();
    object[name] = std::move(value);
    return boost::json::serialize(object);
  };
  const auto modulus_of = [](std::size_t bytes) {
    return boost::json::string(base64url_encode(std::string(bytes, '\xff')));
  };
  const std::string bad[] = {
      "",
      "[]",
      "{}",
      R"({"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})",
      changed(kRfcEs256Jwk, "kty", "RSA"),
      changed(kRfcEs256Jwk, "kty", 1),
      changed(kRfcEs256Jwk, "crv", "P-384"),
      changed(kRfcEs256Jwk, "crv", "secp256k1"),
      changed(kRfcEs256Jwk, "alg", "ES384"),
      changed(kRfcEs256Jwk, "alg", "RS256"),
      changed(kRfcEs256Jwk, "use", "enc"),
      changed(kRfcEs256Jwk, "kid", 1),
      changed(kRfcEs256Jwk, "kid", "line\nbreak"),
      changed(kRfcEs256Jwk, "kid", boost::json::string(300, 'k')),
      changed(kRfcEs256Jwk, "x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU="),
      changed(kRfcEs256Jwk, "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),  // not on the curve
      changed(kRfcEs256Jwk, "y", ""),
      changed(kRfcEs256Jwk, "y", nullptr),
      changed(kRfcRs256Jwk, "n", modulus_of(255)),
      changed(kRfcRs256Jwk, "n", modulus_of(1025)),
      changed(kRfcRs256Jwk, "n", ""),
      changed(kRfcRs256Jwk, "e", ""),
      changed(kRfcRs256Jwk, "e", "AQ"),    // 1
      changed(kRfcRs256Jwk, "e", "AAE"),   // 1, in two bytes
      changed(kRfcRs256Jwk, "e", "AQAA"),  // even
      changed(kRfcRs256Jwk, "alg", "PS256"),
  };
  for (const auto& jwk : bad) {
    const auto parsed = PublicJwk::parse(jwk);
    ASSERT_FALSE(parsed) << jwk;
    EXPECT_EQ(parsed.error().code, "INVALID_JWK");
  }
  EXPECT_TRUE(PublicJwk::parse(changed(kRfcEs256Jwk, "d", "ignored")));
}

TEST(Jwk, RefusesPrivateKeysThatAreIncompleteOrOfTwoKeys) {
  const auto changed = [](const char* name, std::string_view value) {
    auto object =
        boost::json::parse(PrivateJwk::generate(JwsAlgorithm::es256).reveal_json().reveal()).as_object();
    object[name] = value;
    return SecretString(boost::json::serialize(object));
  };
  EXPECT_TRUE(PrivateJwk::parse(changed("kid", "another")));
  EXPECT_FALSE(PrivateJwk::parse(changed("kid", "")));
  EXPECT_FALSE(PrivateJwk::parse(changed("d", "")));
  EXPECT_FALSE(PrivateJwk::parse(changed("d", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")));
  EXPECT_FALSE(PrivateJwk::parse(changed("d", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE")));
  EXPECT_FALSE(PrivateJwk::parse(SecretString(kRfcEs256Jwk)));
  EXPECT_FALSE(PrivateJwk::parse(SecretString("nonsense")));
}

TEST(JwkSetParsing, KeepsUsableKeysAndLeavesOutOthers) {
  const auto key = PrivateJwk::generate(JwsAlgorithm::es256);
  const auto document =
      R"({"keys":[{"kty":"oct","k":"AAAA"},{"kty":"future"},7,)" + key.public_key().to_json() + "]}";
  const auto set = JwkSet::parse(document);
  ASSERT_TRUE(set);
  ASSERT_EQ(set->keys().size(), 1u);
  EXPECT_EQ(set->verify(key.sign("{}"), kBoth), "{}");
  const auto again = JwkSet::parse(set->to_json());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->verify(key.sign("{}"), kBoth), "{}");
  EXPECT_EQ(JwkSet::parse(R"({"keys":[]})")->keys().size(), 0u);
}

TEST(JwkSetParsing, RefusesOtherDocuments) {
  std::string too_many = R"({"keys":[{})";
  for (std::size_t i = 0; i < kMaxJwksKeys; ++i) too_many += ",{}";
  too_many += "]}";
  for (const auto& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"keys":{}})"),
        std::string(R"({"keys":[]}x)"), too_many, std::string(kMaxJwksBytes, ' ') + R"({"keys":[]})",
        R"({"keys":)" + std::string(5000, '[')}) {
    const auto set = JwkSet::parse(text);
    ASSERT_FALSE(set) << text.substr(0, 80);
    EXPECT_EQ(set.error().code, "INVALID_JWKS");
  }
}

TEST_F(Jws, IsSignedAndVerifiedFromManyThreadsAtOnce) {
  const JwkSet set({key_.public_key(), rsa().public_key()});
  const auto rsa_token = rsa().sign("{}");
  std::array<int, 4> verified{};
  {
    std::vector<std::jthread> threads;
    for (auto& count : verified) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          count += set.verify(token_, kBoth).has_value();
          count += set.verify(rsa_token, kBoth).has_value();
          count += set.verify(key_.sign("{}"), kBoth).has_value();
        }
      });
    }
  }
  for (const int count : verified) EXPECT_EQ(count, 150);
}

}  // namespace
}  // namespace presetbridge::crypto
