// AES-256-GCM over OpenSSL, for this folder's records only: sealed_record.h and service_cipher.h are what
// others use. Throws std::runtime_error when OpenSSL fails for another reason than a wrong tag.
#pragma once

#include <array>
#include <optional>

#include "crypto/bytes.h"
#include "crypto/secret.h"

namespace presetbridge::crypto::aes_gcm {

inline constexpr std::size_t kKeySize = 32;
inline constexpr std::size_t kTagSize = 16;
// Random nonces are safe for 2^32 messages under one key.
using Nonce = std::array<std::byte, 12>;

// Ciphertext with the tag behind it. `key` has kKeySize bytes.
Bytes encrypt(ByteView key, const Nonce& nonce, ByteView authenticated, ByteView plaintext);

// Nothing if the tag does not match all the rest.
std::optional<SecretBytes> decrypt(ByteView key, const Nonce& nonce, ByteView authenticated,
                                   ByteView ciphertext);

}  // namespace presetbridge::crypto::aes_gcm
