#include "identity/token_verifier.h"

#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cmath>
#include <optional>

#include "crypto/encoding.h"

namespace presetbridge::identity {
namespace {

namespace json = boost::json;

constexpr std::array kAllowed = {crypto::JwsAlgorithm::rs256, crypto::JwsAlgorithm::es256};

std::unexpected<Error> refuse() {
  return fail("UNAUTHORIZED", "The token is missing, expired or not valid.");
}

std::optional<json::object> parse_claims(std::string_view text) {
  json::parse_options options;
  options.max_depth = 16;
  std::error_code error;
  json::value value = json::parse(text, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

// The claims as the token states them, before anybody vouches for them: only to find whose keys to ask.
std::optional<json::object> unverified_claims(std::string_view token) {
  if (token.size() > crypto::kMaxJwsBytes) return std::nullopt;
  const auto first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = token.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto payload = crypto::base64url_decode(token.substr(first + 1, second - first - 1));
  if (!payload) return std::nullopt;
  return parse_claims(crypto::text_of(*payload));
}

std::string_view text_claim(const json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return value->get_string();
}

// RFC 7519 NumericDate: seconds, a fraction allowed. Nothing for another type or a time that no Timestamp
// holds.
std::optional<Timestamp> time_claim(const json::value& value) {
  constexpr double kLast = 253402300800.0;  // the year 10000
  double seconds = 0;
  if (value.is_int64()) {
    seconds = static_cast<double>(value.get_int64());
  } else if (value.is_uint64()) {
    seconds = static_cast<double>(value.get_uint64());
  } else if (value.is_double()) {
    seconds = value.get_double();
  } else {
    return std::nullopt;
  }
  const bool in_range = seconds >= 0 && seconds < kLast;
  if (!in_range) return std::nullopt;
  return from_unix_ms(static_cast<std::int64_t>(std::floor(seconds * 1000)));
}

bool names_audience(const json::object& claims, std::string_view audience) {
  const auto* aud = claims.if_contains("aud");
  if (aud == nullptr) return false;
  if (aud->is_string()) return aud->get_string() == audience;
  if (!aud->is_array()) return false;
  for (const auto& one : aud->get_array()) {
    if (one.is_string() && one.get_string() == audience) return true;
  }
  return false;
}

Expected<VerifiedToken> judge(const json::object& claims, const Issuer& issuer, Timestamp now) {
  const auto subject = text_claim(claims, "sub");
  if (text_claim(claims, "iss") != issuer.iss() || !names_audience(claims, issuer.audience()))
    return refuse();
  if (subject.empty() || subject.size() > TokenVerifier::max_subject_bytes || subject.contains('\0'))
    return refuse();

  const auto* exp = claims.if_contains("exp");
  const auto* iat = claims.if_contains("iat");
  if (exp == nullptr || iat == nullptr) return refuse();
  const auto expires = time_claim(*exp);
  const auto issued = time_claim(*iat);
  if (!expires || now >= *expires + TokenVerifier::leeway) return refuse();
  if (!issued || *issued > now + TokenVerifier::leeway) return refuse();
  if (const auto* nbf = claims.if_contains("nbf")) {
    const auto not_before = time_claim(*nbf);
    if (!not_before || *not_before > now + TokenVerifier::leeway) return refuse();
  }
  const auto email = text_claim(claims, "email");
  VerifiedToken token{
      .iss = issuer.iss(),
      .sub = std::string(subject),
      .email = email.size() <= 320 && !email.contains('\0') ? std::string(email) : std::string(),
      .expires_at = *expires,
      .session = std::nullopt,
      .auth_time = std::nullopt,
      .nonce = std::string(text_claim(claims, "nonce")),
      .authorized_party = std::string(text_claim(claims, "azp"))};
  if (const auto* at = claims.if_contains("auth_time")) {
    token.auth_time = time_claim(*at);
    if (!token.auth_time || *token.auth_time > now + TokenVerifier::leeway) return refuse();
  }
  if (issuer.makes_sessions() && claims.contains("sid")) {
    token.session = parse_id<SessionKind>(text_claim(claims, "sid"));
    if (!token.session) return refuse();
  }
  return token;
}

}  // namespace

Task<Expected<VerifiedToken>> TokenVerifier::verify(Executor& executor, std::string token) const {
  const auto stated = unverified_claims(token);
  if (!stated) co_return refuse();
  Issuer* issuer = nullptr;
  for (auto* candidate : issuers_) {
    if (candidate->iss() == text_claim(*stated, "iss")) issuer = candidate;
  }
  if (issuer == nullptr) co_return refuse();

  auto keys = co_await issuer->keys(executor);
  if (!keys) co_return std::unexpected(keys.error());
  auto payload = (*keys)->verify(token, kAllowed);
  if (!payload && payload.error().code == "TOKEN_KEY_UNKNOWN") {
    keys = co_await issuer->fresh_keys(executor);
    if (!keys) co_return std::unexpected(keys.error());
    payload = (*keys)->verify(token, kAllowed);
  }
  if (!payload) co_return refuse();
  const auto claims = parse_claims(*payload);
  if (!claims) co_return refuse();
  co_return judge(*claims, *issuer, clock_.now());
}

}  // namespace presetbridge::identity
