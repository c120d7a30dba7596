// SHA-256, HMAC-SHA256 and the comparison that belongs to them. Thread-safe. An allocation failure inside
// OpenSSL throws std::runtime_error; there is no other failure.
#pragma once

#include <array>
#include <cstddef>

#include "crypto/bytes.h"

namespace presetbridge::crypto {

using Sha256 = std::array<std::byte, 32>;

Sha256 sha256(ByteView data);

// RFC 2104 over SHA-256. Any key length, empty included. On the hot path of inbound webhooks (spec 2.2).
Sha256 hmac_sha256(ByteView key, ByteView data);

// Takes the same time for every content of one length; different lengths differ at once.
bool equal_constant_time(ByteView a, ByteView b);

}  // namespace presetbridge::crypto
