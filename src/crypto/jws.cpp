#include "crypto/jws.h"

#include <cjose/cjose.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {

struct JwkHandle {
  explicit JwkHandle(cjose_jwk_t* owned) : jwk(owned) {}
  JwkHandle(const JwkHandle&) = delete;
  JwkHandle& operator=(const JwkHandle&) = delete;
  ~JwkHandle() { cjose_jwk_release(jwk); }

  cjose_jwk_t* const jwk;
};

namespace {

namespace json = boost::json;

constexpr std::size_t kMaxJwkBytes = 16 * 1024;
constexpr std::size_t kMaxKidBytes = 256;
constexpr std::size_t kEs256SignatureSize = 64;
constexpr std::size_t kP256CoordinateSize = 32;

// Memory of cjose that its caller frees, with cjose's own dealloc.
struct CjoseFree {
  void operator()(char* text) const { cjose_get_dealloc()(text); }
};
using CjoseText = std::unique_ptr<char, CjoseFree>;

struct JwsRelease {
  void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};
using Jws = std::unique_ptr<cjose_jws_t, JwsRelease>;

struct HeaderRelease {
  void operator()(cjose_header_t* header) const { cjose_header_release(header); }
};
using Header = std::unique_ptr<cjose_header_t, HeaderRelease>;

std::unexpected<Error> invalid_jwk(std::string_view why) {
  return fail("INVALID_JWK", "The JSON Web Key cannot be used: " + std::string(why) + ".");
}

std::optional<json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  auto value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

// The empty view for an absent member; nothing for one that is no string.
std::optional<std::string_view> text_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr) return std::string_view();
  if (!value->is_string()) return std::nullopt;
  return std::string_view(value->get_string());
}

// A kid travels as a C string through cjose and as text through logs.
bool is_usable_kid(std::string_view kid) {
  return kid.size() <= kMaxKidBytes && std::ranges::all_of(kid, [](char c) { return c >= ' ' && c <= '~'; });
}

// The members that make the public key, in the order of RFC 7638; nothing unless each is strict base64url of
// a sane size.
std::optional<json::object> public_members(const json::object& jwk, JwsAlgorithm algorithm) {
  const auto number = [&](std::string_view name) -> std::optional<Bytes> {
    const auto text = text_member(jwk, name);
    return text ? base64url_decode(*text) : std::nullopt;
  };
  if (algorithm == JwsAlgorithm::es256) {
    const auto x = number("x"), y = number("y");
    if (text_member(jwk, "crv") != "P-256" || !x || !y) return std::nullopt;
    if (x->size() != kP256CoordinateSize || y->size() != kP256CoordinateSize) return std::nullopt;
    return json::object{{"crv", "P-256"}, {"kty", "EC"}, {"x", jwk.at("x")}, {"y", jwk.at("y")}};
  }
  const auto e = number("e"), n = number("n");
  if (!e || !n || n->empty() || e->empty() || e->size() > 8) return std::nullopt;
  // An exponent of 1 lets anybody sign; an even one is none; RFC 7518 6.3.1.2 forbids zeros in front.
  if (e->front() == std::byte{0} || *e == Bytes{std::byte{1}} || (e->back() & std::byte{1}) == std::byte{0}) {
    return std::nullopt;
  }
  return json::object{{"e", jwk.at("e")}, {"kty", "RSA"}, {"n", jwk.at("n")}};
}

// Nothing for a key without a public part, which cjose makes of an EC `d` of zero.
std::optional<json::object> exported_public(const cjose_jwk_t* jwk) {
  cjose_err error{};
  const CjoseText text(cjose_jwk_to_json(jwk, false, &error));
  return text ? parse_object(text.get()) : std::nullopt;
}

std::string thumbprint_of(const cjose_jwk_t* jwk, JwsAlgorithm algorithm) {
  const auto exported = exported_public(jwk);
  const auto members = exported ? public_members(*exported, algorithm) : std::nullopt;
  if (!members) throw std::runtime_error("cjose could not export a key");
  return base64url_encode(sha256(json::serialize(*members)));
}

std::shared_ptr<JwkHandle> import(std::string_view text) {
  cjose_err error{};
  auto* jwk = cjose_jwk_import(text.data(), text.size(), &error);
  return jwk == nullptr ? nullptr : std::make_shared<JwkHandle>(jwk);
}

struct Described {
  JwsAlgorithm algorithm;
  std::string kid;
  json::object members;
};

// Whether a key is for `operation`, as far as it says what it is for (RFC 7517, 4.3).
bool allows(const json::object& jwk, std::string_view operation) {
  const auto* operations = jwk.if_contains("key_ops");
  if (operations == nullptr) return true;
  const auto* list = operations->if_array();
  return list != nullptr && std::ranges::all_of(*list, [](const auto& one) { return one.is_string(); }) &&
         std::ranges::any_of(*list, [&](const auto& one) { return one.get_string() == operation; });
}

// The members of a JWK, public or private.
Expected<Described> describe(const json::object& jwk, std::string_view operation) {
  const auto kty = text_member(jwk, "kty"), alg = text_member(jwk, "alg"), use = text_member(jwk, "use"),
             kid = text_member(jwk, "kid");
  if (!kty || !alg || !use || !kid) return invalid_jwk("a member that is text by RFC 7517 is not");
  if (*kty != "EC" && *kty != "RSA") return invalid_jwk("its type is neither RSA nor EC");
  const auto algorithm = *kty == "EC" ? JwsAlgorithm::es256 : JwsAlgorithm::rs256;
  if (!alg->empty() && *alg != to_string(algorithm)) return invalid_jwk("it is for another algorithm");
  if (!use->empty() && *use != "sig") return invalid_jwk("it is not for signatures");
  if (!allows(jwk, operation)) return invalid_jwk("its operations are others");
  if (!is_usable_kid(*kid)) return invalid_jwk("its kid is too long or not plain text");
  auto members = public_members(jwk, algorithm);
  if (!members) return invalid_jwk("its public part is incomplete or malformed");
  return Described{algorithm, std::string(*kid), std::move(*members)};
}

bool has_allowed_size(const cjose_jwk_t* jwk) {
  cjose_err error{};
  if (cjose_jwk_get_kty(jwk, &error) == CJOSE_JWK_KTY_EC) return true;  // the curve was checked
  const auto bits = cjose_jwk_get_keysize(jwk, &error);
  return bits >= 2048 && bits <= 8192;
}

std::unexpected<Error> malformed() {
  return fail("TOKEN_MALFORMED", "The token is not a compact JWS.");
}
std::unexpected<Error> algorithm_refused() {
  return fail("TOKEN_ALGORITHM_REFUSED", "The token's algorithm is not accepted.");
}

// The header of a token, not yet verified.
struct TokenHeader {
  std::string alg;
  std::optional<std::string> kid;
  std::size_t signature_size;
};

// Three strict parts are required here, since cjose's own decoder forgives padding and stray bits; and
// Boost.JSON bounds the depth of the header, which cjose's parser does not.
std::optional<TokenHeader> read_header(std::string_view token) {
  if (token.size() > kMaxJwsBytes) return std::nullopt;
  const auto first = token.find('.');
  if (first == token.npos) return std::nullopt;
  const auto second = token.find('.', first + 1);
  if (second == token.npos) return std::nullopt;
  const auto header_bytes = base64url_decode(token.substr(0, first));
  const auto payload = base64url_decode(token.substr(first + 1, second - first - 1));
  const auto signature = base64url_decode(token.substr(second + 1));
  if (!header_bytes || !payload || !signature) return std::nullopt;

  const auto header = parse_object(text_of(*header_bytes));
  if (!header || header->contains("crit")) return std::nullopt;
  const auto alg = text_member(*header, "alg"), kid = text_member(*header, "kid");
  if (!alg || alg->empty() || !kid) return std::nullopt;
  TokenHeader read{std::string(*alg), std::nullopt, signature->size()};
  if (header->contains("kid")) read.kid = *kid;
  return read;
}

// cjose cuts an ES256 signature in halves and ignores an odd byte behind them: only the exact size is a
// signature.
std::size_t signature_size(const cjose_jwk_t* jwk, JwsAlgorithm algorithm) {
  if (algorithm == JwsAlgorithm::es256) return kEs256SignatureSize;
  cjose_err error{};
  return (cjose_jwk_get_keysize(jwk, &error) + 7) / 8;
}

// The payload, if this key signed the token.
std::optional<std::string> verified_payload(std::string_view token, const TokenHeader& header,
                                            const cjose_jwk_t* jwk) {
  cjose_err error{};
  const Jws jws(cjose_jws_import(token.data(), token.size(), &error));
  if (jws == nullptr) return std::nullopt;
  // cjose verifies by the algorithm that its own parser read: it has to be the one that was allowed.
  const char* alg = cjose_header_get(cjose_jws_get_protected(jws.get()), CJOSE_HDR_ALG, &error);
  if (alg == nullptr || header.alg != alg) return std::nullopt;
  if (!cjose_jws_verify(jws.get(), jwk, &error)) return std::nullopt;
  std::uint8_t* payload = nullptr;
  std::size_t size = 0;
  if (!cjose_jws_get_plaintext(jws.get(), &payload, &size, &error)) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(payload), size);
}

}  // namespace

std::string_view to_string(JwsAlgorithm algorithm) {
  return algorithm == JwsAlgorithm::es256 ? CJOSE_HDR_ALG_ES256 : CJOSE_HDR_ALG_RS256;
}

PublicJwk::PublicJwk(std::shared_ptr<JwkHandle> handle, JwsAlgorithm algorithm, std::string kid)
    : handle_(std::move(handle)), algorithm_(algorithm), kid_(std::move(kid)) {}

Expected<PublicJwk> PublicJwk::parse(std::string_view text) {
  const auto jwk = text.size() <= kMaxJwkBytes ? parse_object(text) : std::nullopt;
  if (!jwk) return invalid_jwk("it is no JSON object of a sane size");
  auto described = describe(*jwk, "verify");
  if (!described) return std::unexpected(described.error());
  auto handle = import(json::serialize(described->members));
  if (!handle) return invalid_jwk("its point or modulus is not valid");
  if (!has_allowed_size(handle->jwk)) return invalid_jwk("its RSA modulus has not 2048 to 8192 bits");
  return PublicJwk(std::move(handle), described->algorithm, std::move(described->kid));
}

std::string PublicJwk::to_json() const {
  auto jwk = exported_public(handle_->jwk);
  if (!jwk) throw std::runtime_error("cjose could not export a key");
  jwk->erase("kid");
  if (!kid_.empty()) (*jwk)["kid"] = kid_;
  (*jwk)["alg"] = to_string(algorithm_);
  (*jwk)["use"] = "sig";
  return json::serialize(*jwk);
}

std::string PublicJwk::thumbprint() const {
  return thumbprint_of(handle_->jwk, algorithm_);
}

PrivateJwk PrivateJwk::generate(JwsAlgorithm algorithm) {
  cjose_err error{};
  auto* jwk = algorithm == JwsAlgorithm::es256 ? cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error)
                                               : cjose_jwk_create_RSA_random(2048, nullptr, 0, &error);
  if (jwk == nullptr) throw std::runtime_error("cjose could not generate a key");
  auto handle = std::make_shared<JwkHandle>(jwk);
  auto kid = thumbprint_of(jwk, algorithm);
  if (!cjose_jwk_set_kid(jwk, kid.data(), kid.size(), &error)) throw std::bad_alloc();
  return PrivateJwk(PublicJwk(std::move(handle), algorithm, std::move(kid)));
}

Expected<PrivateJwk> PrivateJwk::parse(const SecretString& text) {
  const auto jwk = text.size() <= kMaxJwkBytes ? parse_object(text.reveal()) : std::nullopt;
  if (!jwk) return invalid_jwk("it is no JSON object of a sane size");
  auto described = describe(*jwk, "sign");
  if (!described) return std::unexpected(described.error());
  if (described->kid.empty()) return invalid_jwk("it has no kid");
  const auto d = text_member(*jwk, "d");
  if (!d || d->empty()) return invalid_jwk("it has no private part");
  auto handle = import(text.reveal());
  if (!handle || !has_allowed_size(handle->jwk)) return invalid_jwk("its parts do not make a key");
  // cjose makes an EC key from `d` alone: the public part beside it must be the same key's.
  const auto exported = exported_public(handle->jwk);
  if (!exported || public_members(*exported, described->algorithm) != described->members) {
    return invalid_jwk("its private and public parts are of different keys");
  }
  return PrivateJwk(PublicJwk(std::move(handle), described->algorithm, std::move(described->kid)));
}

std::string PrivateJwk::sign(std::string_view payload, std::string_view typ) const {
  cjose_err error{};
  const auto require = [](bool ok) {
    if (!ok) throw std::runtime_error("cjose could not sign");
  };
  const Header header(cjose_header_new(&error));
  require(header != nullptr);
  require(cjose_header_set(header.get(), CJOSE_HDR_ALG, std::string(to_string(algorithm())).c_str(), &error));
  require(cjose_header_set(header.get(), CJOSE_HDR_KID, kid().c_str(), &error));
  require(cjose_header_set(header.get(), "typ", std::string(typ).c_str(), &error));
  // An empty view may have no pointer, which cjose takes for a missing argument.
  const char* bytes = payload.empty() ? "" : payload.data();
  const Jws jws(cjose_jws_sign(public_.handle_->jwk, header.get(),
                               reinterpret_cast<const std::uint8_t*>(bytes), payload.size(), &error));
  require(jws != nullptr);
  const char* compact = nullptr;  // stays jws's
  require(cjose_jws_export(jws.get(), &compact, &error));
  return compact;
}

SecretString PrivateJwk::reveal_json() const {
  cjose_err error{};
  const CjoseText text(cjose_jwk_to_json(public_.handle_->jwk, true, &error));
  if (text == nullptr) throw std::runtime_error("cjose could not export a key");
  const std::string_view view(text.get());
  SecretString secret(view);
  wipe(std::as_writable_bytes(std::span(text.get(), view.size())));
  return secret;
}

Expected<JwkSet> JwkSet::parse(std::string_view text) {
  const auto invalid = [] {
    return fail("INVALID_JWKS", "The document is not a JSON Web Key Set of a sane size.");
  };
  const auto document = text.size() <= kMaxJwksBytes ? parse_object(text) : std::nullopt;
  const auto* keys = document ? document->if_contains("keys") : nullptr;
  if (keys == nullptr || !keys->is_array() || keys->get_array().size() > kMaxJwksKeys) return invalid();
  JwkSet set;
  for (const auto& key : keys->get_array()) {
    if (auto usable = PublicJwk::parse(json::serialize(key))) set.keys_.push_back(std::move(*usable));
  }
  return set;
}

Expected<std::string> JwkSet::verify(std::string_view token, std::span<const JwsAlgorithm> allowed) const {
  const auto header = read_header(token);
  if (!header) return malformed();
  const auto algorithm = std::ranges::find(allowed, header->alg, [](JwsAlgorithm a) { return to_string(a); });
  if (algorithm == allowed.end()) return algorithm_refused();

  std::vector<const PublicJwk*> candidates;
  bool kid_is_of_another_algorithm = false;
  for (const auto& key : keys_) {
    if (header->kid && key.kid() != *header->kid) continue;
    if (key.algorithm() == *algorithm) {
      candidates.push_back(&key);
    } else if (header->kid) {
      kid_is_of_another_algorithm = true;
    }
  }
  if (candidates.empty() && kid_is_of_another_algorithm) return algorithm_refused();
  if (candidates.empty() || (!header->kid && candidates.size() > 1)) {
    return fail("TOKEN_KEY_UNKNOWN", "The token is signed with a key that is not known.");
  }
  for (const auto* key : candidates) {
    if (header->signature_size != signature_size(key->handle_->jwk, *algorithm)) continue;
    if (auto payload = verified_payload(token, *header, key->handle_->jwk)) return std::move(*payload);
  }
  return fail("TOKEN_SIGNATURE_INVALID", "The token's signature is not valid.");
}

std::string JwkSet::to_json() const {
  json::array keys;
  for (const auto& key : keys_) keys.push_back(json::parse(key.to_json()));
  return json::serialize(json::object{{"keys", std::move(keys)}});
}

}  // namespace presetbridge::crypto
