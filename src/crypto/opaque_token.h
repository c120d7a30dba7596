// Random bearer tokens without meaning (sessions, refresh tokens): a prefix and base64url of 32
// random bytes. Only the SHA-256 is stored: 256 random bits need no salt and no slow hash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "crypto/digest.h"

namespace presetbridge::crypto {

struct OpaqueToken {
  std::string text;  // shown once
  Sha256 hash;       // of the whole text; what is stored
};

OpaqueToken generate_opaque_token(Random& random, std::string_view prefix);

// The hash to look up; nothing unless `text` has the form of a token with this prefix.
std::optional<Sha256> opaque_token_hash(std::string_view prefix, std::string_view text);

}  // namespace presetbridge::crypto
