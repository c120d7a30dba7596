#include "crypto/opaque_token.h"

#include <array>

#include "crypto/encoding.h"
#include "crypto/secret.h"

namespace presetbridge::crypto {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kTokenLength = 43;  // base64url of token_bytes

}  // namespace

OpaqueToken generate_opaque_token(Random& random, std::string_view prefix) {
  std::array<std::byte, kTokenBytes> raw;
  random.fill(raw);
  OpaqueToken token{std::string(prefix) + base64url_encode(raw), {}};
  token.hash = sha256(token.text);
  wipe(raw);
  return token;
}

std::optional<Sha256> opaque_token_hash(std::string_view prefix, std::string_view text) {
  if (text.size() != prefix.size() + kTokenLength || !text.starts_with(prefix)) return std::nullopt;
  if (!base64url_decode(text.substr(prefix.size()))) return std::nullopt;
  return sha256(text);
}

}  // namespace presetbridge::crypto
