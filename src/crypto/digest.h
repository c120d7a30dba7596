// SHA-256, HMAC-SHA256 and the comparison of their results. Thread-safe. An allocation failure inside
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

// Takes the same time for all contents of one length; returns false at once if the lengths differ.
bool equal_constant_time(ByteView a, ByteView b);

}  // namespace presetbridge::crypto
