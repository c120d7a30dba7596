// API keys as text (spec 6.1): "pdb_live_", 32 base62 characters (190 bits), and the CRC-32 of all before it
// as 6 base62 characters, so that a typing error or a scanner's false find is detected without a database.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "crypto/digest.h"

namespace presetbridge::crypto {

inline constexpr std::string_view kApiKeyPrefix = "pdb_live_";
inline constexpr std::size_t kApiKeyLength = 47;

std::string generate_api_key(Random& random);

// Prefix, length, alphabet and checksum.
bool is_well_formed_api_key(std::string_view text);

// "pdb_live_…abcd": the last four characters, which belong to the checksum. Requires a well-formed key.
std::string api_key_preview(std::string_view key);

// The digest that is stored, and looked up, instead of the key.
Sha256 api_key_hash(std::string_view key);

}  // namespace presetbridge::crypto
