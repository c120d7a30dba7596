// Compact JWS (RFC 7515) with RS256 and ES256, and JSON Web Keys (RFC 7517), over cjose. Only signatures are
// judged here: claims are the caller's (identity/). Everything is thread-safe once built.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "crypto/secret.h"

namespace presetbridge::crypto {

enum class JwsAlgorithm { rs256, es256 };
std::string_view to_string(JwsAlgorithm algorithm);  // "RS256", "ES256"

// A key as cjose holds it; known in jws.cpp only.
struct JwkHandle;

// A public key that verifies one algorithm: RSA of 2048 to 8192 bits (RS256) or EC P-256 (ES256).
class PublicJwk {
 public:
  // INVALID_JWK for any other kind of key, for another `alg`, for a `use` that is not "sig", and for
  // `key_ops` without "verify". Private members are dropped.
  static Expected<PublicJwk> parse(std::string_view json);

  const std::string& kid() const { return kid_; }  // may be empty: a set of one key needs none
  JwsAlgorithm algorithm() const { return algorithm_; }
  std::string to_json() const;     // with kid, alg and use
  std::string thumbprint() const;  // RFC 7638 with SHA-256, base64url

 private:
  friend class PrivateJwk;
  friend class JwkSet;
  PublicJwk(std::shared_ptr<JwkHandle> handle, JwsAlgorithm algorithm, std::string kid);

  std::shared_ptr<JwkHandle> handle_;
  JwsAlgorithm algorithm_;
  std::string kid_;
};

// A signing key. Moves only.
class PrivateJwk {
 public:
  // A fresh key whose kid is its thumbprint. RS256 makes 2048-bit RSA, which takes a good part of a second.
  static PrivateJwk generate(JwsAlgorithm algorithm);
  // INVALID_JWK as above, but for `key_ops` without "sign"; and for a key without its private part or kid.
  static Expected<PrivateJwk> parse(const SecretString& json);

  PrivateJwk(PrivateJwk&&) noexcept = default;
  PrivateJwk& operator=(PrivateJwk&&) noexcept = default;

  const std::string& kid() const { return public_.kid(); }
  JwsAlgorithm algorithm() const { return public_.algorithm(); }
  // With `typ` JWT unless named otherwise, and the key's alg and kid in the protected header.
  std::string sign(std::string_view payload, std::string_view typ = "JWT") const;
  PublicJwk public_key() const { return public_; }
  // cjose and its JSON parser hold the key in ordinary memory meanwhile, so this is no key for the vault.
  SecretString reveal_json() const;

 private:
  explicit PrivateJwk(PublicJwk key) : public_(std::move(key)) {}
  PublicJwk public_;  // its handle has the private part too
};

inline constexpr std::size_t kMaxJwsBytes = 16 * 1024;
inline constexpr std::size_t kMaxJwksBytes = 256 * 1024;
inline constexpr std::size_t kMaxJwksKeys = 100;

// The public keys of an issuer.
class JwkSet {
 public:
  JwkSet() = default;
  explicit JwkSet(std::vector<PublicJwk> keys) : keys_(std::move(keys)) {}
  // A JWKS document. Keys that PublicJwk refuses are left out, as RFC 7517 section 5 asks. INVALID_JWKS when
  // the document has another shape or is too large.
  static Expected<JwkSet> parse(std::string_view json);

  // The payload of `token` if one of these keys signed it with one of the allowed algorithms. Codes:
  //   TOKEN_MALFORMED          not three strict base64url parts with a JSON object before, too long, or with
  //   `crit` TOKEN_ALGORITHM_REFUSED  `none`, HS*, or any algorithm not allowed, or not the named key's
  //   TOKEN_KEY_UNKNOWN        no key with its kid (or no kid where more than one key fits): refetching may
  //   help TOKEN_SIGNATURE_INVALID  the signature is not that key's
  Expected<std::string> verify(std::string_view token, std::span<const JwsAlgorithm> allowed) const;

  const std::vector<PublicJwk>& keys() const { return keys_; }
  std::string to_json() const;  // {"keys":[...]}

 private:
  std::vector<PublicJwk> keys_;
};

}  // namespace presetbridge::crypto
