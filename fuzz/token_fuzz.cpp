#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <optional>

#include "base/log.h"
#include "base/testing.h"
#include "crypto/encoding.h"
#include "crypto/jws.h"
#include "identity/remote_issuer.h"
#include "identity/token_verifier.h"
#include "require.h"
#include "splice.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::crypto;
namespace json = boost::json;

constexpr std::array kAllowed{JwsAlgorithm::rs256, JwsAlgorithm::es256};
constexpr std::string_view kIss = "https://id.example";
constexpr std::string_view kAudience = "bridge";
constexpr Timestamp kNow = from_unix_ms(1'790'000'000'000);

const PrivateJwk& es256() {
  static const auto key = PrivateJwk::generate(JwsAlgorithm::es256);
  return key;
}
const PrivateJwk& rs256() {
  static const auto key = PrivateJwk::generate(JwsAlgorithm::rs256);
  return key;
}
const JwkSet& keys() {
  static const JwkSet set(std::vector{es256().public_key(), rs256().public_key()});
  return set;
}

void require_refused(std::string_view token) {
  const auto verified = keys().verify(token, kAllowed);
  REQUIRE(!verified);
  const auto& code = verified.error().code;
  REQUIRE(code == "TOKEN_MALFORMED" || code == "TOKEN_ALGORITHM_REFUSED" || code == "TOKEN_KEY_UNKNOWN" ||
          code == "TOKEN_SIGNATURE_INVALID");
}

void try_altered(FuzzedDataProvider& input) {
  const auto& key = input.ConsumeIntegralInRange(0, 7) == 0 ? rs256() : es256();
  const auto payload = input.ConsumeRandomLengthString(300);
  const auto token = key.sign(payload);
  REQUIRE(keys().verify(token, kAllowed) == Expected<std::string>(payload));
  REQUIRE(!keys().verify(token, {}));
  const auto altered = fuzz::spliced(input, token);
  if (altered != token) require_refused(altered);
  for (const auto* more : {"A", "AA", "=", "."}) require_refused(token + more);

  // A header of the input's own over a true signature: `alg`, `kid` and `crit` of any sort.
  const auto header = input.ConsumeRandomLengthString(200);
  const auto last = token.rfind('.');
  require_refused(base64url_encode(header) + token.substr(token.find('.')));
  require_refused(base64url_encode(header) + token.substr(token.find('.'), last - token.find('.') + 1));
  // As if the public key were a secret of HS256's.
  const json::object hs256{{"alg", header.substr(0, 10)}, {"kid", key.kid()}};
  require_refused(base64url_encode(json::serialize(hs256)) + token.substr(token.find('.')));
}

void require_public(const PublicJwk& key) {
  const auto text = key.to_json();
  const json::value members = json::parse(text);
  for (const auto* secret : {"d", "p", "q", "dp", "dq", "qi", "k"})
    REQUIRE(!members.as_object().contains(secret));
  REQUIRE(key.thumbprint().size() == 43);
  const auto again = PublicJwk::parse(text);
  REQUIRE(again && json::parse(again->to_json()) == members && again->thumbprint() == key.thumbprint());
  REQUIRE(again->kid() == key.kid() && again->algorithm() == key.algorithm());
}

// A key that says what it is for is used for that alone.
bool is_for(std::string_view jwk, std::string_view operation) {
  const json::value value = json::parse(jwk);
  const auto* use = value.as_object().if_contains("use");
  if (use != nullptr && use->as_string() != "sig" && !use->as_string().empty()) return false;
  const auto* operations = value.as_object().if_contains("key_ops");
  if (operations == nullptr) return true;
  return operations->is_array() && std::ranges::any_of(operations->get_array(), [&](const json::value& one) {
           return one.is_string() && one.get_string() == operation;
         });
}

void try_keys(std::string_view text) {
  if (const auto key = PublicJwk::parse(text)) {
    REQUIRE(is_for(text, "verify"));
    require_public(*key);
  } else {
    REQUIRE(key.error().code == "INVALID_JWK");
  }
  if (const auto key = PrivateJwk::parse(SecretString(text))) {
    REQUIRE(is_for(text, "sign"));
    require_public(key->public_key());
    const JwkSet set({key->public_key()});
    REQUIRE(set.verify(key->sign("{}"), kAllowed) == Expected<std::string>("{}"));
    const auto again = PrivateJwk::parse(key->reveal_json());
    REQUIRE(again && again->kid() == key->kid());
  } else {
    REQUIRE(key.error().code == "INVALID_JWK");
  }
  for (const auto& document : {std::string(text), R"({"keys":[)" + std::string(text) + "]}"}) {
    const auto set = JwkSet::parse(document);
    REQUIRE(set || set.error().code == "INVALID_JWKS");
    if (!set) continue;
    REQUIRE(set->keys().size() <= kMaxJwksKeys);
    const auto again = JwkSet::parse(set->to_json());
    REQUIRE(again && json::parse(again->to_json()) == json::parse(set->to_json()));
    for (const auto& key : set->keys()) require_public(key);
  }
}

// Answers the discovery document with one text and everything else with another.
class TwoPages final : public net::HttpClient {
 public:
  TwoPages(std::string discovery, std::string jwks)
      : discovery_(std::move(discovery)), jwks_(std::move(jwks)) {}
  Task<net::HttpResult> send(Executor&, net::OutgoingRequest request) override {
    const bool first = request.url.ends_with("/.well-known/openid-configuration");
    REQUIRE(first || request.url.starts_with("https://"));
    net::HttpResult result;
    result.outcome = net::HttpAnswer{200, {}, first ? discovery_ : jwks_, false};
    co_return result;
  }

 private:
  const std::string discovery_;
  const std::string jwks_;
};

template <class T>
T await(presetbridge::testing::VirtualScheduler& scheduler, Task<T> task) {
  std::optional<Outcome<T>> ended;
  spawn(std::move(task), [&](Outcome<T> outcome) { ended = std::move(outcome); });
  scheduler.run();
  REQUIRE(ended && !ended->exception);
  return std::move(*ended->value);
}

std::optional<double> seconds_of(const json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

bool is_for_us(const json::object& claims) {
  const auto* audience = claims.if_contains("aud");
  if (audience == nullptr) return false;
  if (audience->is_string()) return audience->get_string() == kAudience;
  return audience->is_array() && std::ranges::any_of(audience->get_array(), [](const json::value& one) {
           return one.is_string() && one.get_string() == kAudience;
         });
}

// A token that is accepted says what spec 7.1 asks for, whatever else it says.
void require_claims(const json::object& claims, const identity::VerifiedToken& token) {
  const double now = static_cast<double>(to_unix_ms(kNow)) / 1000;
  REQUIRE(token.iss == kIss && claims.at("iss").as_string() == kIss && is_for_us(claims));
  REQUIRE(!token.sub.empty() && token.sub.size() <= identity::TokenVerifier::max_subject_bytes);
  REQUIRE(claims.at("sub").as_string() == token.sub && !token.sub.contains('\0'));
  REQUIRE(token.email.size() <= 320 && !token.email.contains('\0'));
  const auto exp = seconds_of(claims, "exp"), iat = seconds_of(claims, "iat"),
             nbf = seconds_of(claims, "nbf");
  REQUIRE(exp && *exp > now - 61 && iat && *iat < now + 61);
  REQUIRE(!claims.contains("nbf") || (nbf && *nbf < now + 61));
  REQUIRE(token.expires_at == from_unix_ms(static_cast<std::int64_t>(std::floor(*exp * 1000))));
}

void try_claims(FuzzedDataProvider& input) {
  static const std::string discovery =
      json::serialize(json::object{{"issuer", kIss}, {"jwks_uri", "https://id.example/keys"}});
  static const std::string jwks = JwkSet({es256().public_key()}).to_json();
  static const std::string claims = json::serialize(json::object{{"iss", kIss},
                                                                 {"aud", json::array{kAudience}},
                                                                 {"sub", "person-1"},
                                                                 {"email", "kim@shop.example"},
                                                                 {"exp", 1'790'000'600},
                                                                 {"iat", 1'790'000'000.5},
                                                                 {"nbf", 1'789'999'990}});
  presetbridge::testing::ManualClock clock(kNow);
  presetbridge::testing::VirtualScheduler scheduler(clock);
  NullLog log;
  const bool true_documents = input.ConsumeBool();
  TwoPages pages(true_documents ? discovery : fuzz::spliced(input, discovery),
                 true_documents ? jwks : fuzz::spliced(input, jwks));
  identity::RemoteIssuer issuer({.iss = std::string(kIss), .audience = std::string(kAudience)}, pages, clock,
                                log);
  if (const auto known = await(scheduler, issuer.keys(scheduler))) {
    REQUIRE(*known && !(*known)->keys().empty());
  } else {
    REQUIRE(!true_documents && known.error().code == "ISSUER_UNAVAILABLE");
  }
  const identity::TokenVerifier verifier({&issuer}, clock);
  const auto payload = fuzz::spliced(input, claims);
  const auto verified = await(scheduler, verifier.verify(scheduler, es256().sign(payload)));
  if (verified) {
    std::error_code error;
    const auto value = json::parse(payload, error);
    REQUIRE(!error && value.is_object());
    require_claims(value.get_object(), *verified);
  } else {
    REQUIRE(!true_documents || payload != claims);
    REQUIRE(verified.error().code == "UNAUTHORIZED" || verified.error().code == "ISSUER_UNAVAILABLE");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  require_refused(text);
  try_keys(text);
  FuzzedDataProvider input(data, size);
  if (input.ConsumeBool()) {
    try_altered(input);
  } else {
    try_claims(input);
    static const std::string known = es256().public_key().to_json();
    static const std::string secret{es256().reveal_json().reveal()};
    try_keys(fuzz::spliced(input, known));
    try_keys(fuzz::spliced(input, secret));
  }
  return 0;
}
