// Tokens of links that are derived, not stored (spec 3.7): base64url of the row's id (8 bytes, big endian)
// and of the first 128 bits of HMAC-SHA256(key, id || version), 32 characters. Who raises the version of a
// row ends its token; who has no key can make none. A key makes tokens of one kind of row only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "crypto/bytes.h"

namespace presetbridge::crypto {

inline constexpr std::size_t kLinkKeyBytes = 32;
inline constexpr std::size_t kLinkTokenLength = 32;

std::string make_link_token(ByteView key, std::int64_t id, std::int64_t version);

// The content of a token that is not yet verified.
struct LinkClaim {
  std::int64_t id = 0;  // positive
  std::array<std::byte, 16> mac{};
};
// Nothing for what no row's token can be. Allocates nothing but for a text of exactly kLinkTokenLength.
std::optional<LinkClaim> parse_link_token(std::string_view text);

// In constant time.
bool is_link_of(ByteView key, const LinkClaim& claim, std::int64_t version);

}  // namespace presetbridge::crypto
