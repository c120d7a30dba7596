// Text forms of bytes, over libsodium's constant-time codecs. Decoders are strict: one text for one value, no
// white space, nothing ignored, no trailing bits set; nothing for anything else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "crypto/bytes.h"

namespace presetbridge::crypto {

enum class HexCase { lower_only, any };

std::string hex_encode(ByteView bytes);  // lower case

// The standard alphabet with its padding (RFC 4648 section 4).
std::string base64_encode(ByteView bytes);
std::optional<Bytes> base64_decode(std::string_view text);

// The URL-safe alphabet without padding (RFC 4648 section 5, as RFC 7515 uses it).
std::string base64url_encode(ByteView bytes);
std::optional<Bytes> base64url_decode(std::string_view text);

// Decodes a value of a known size, without allocation: true and `out` filled only if `text` encodes
// exactly out.size() bytes; else `out` is unspecified.
bool hex_decode_exactly(std::string_view text, std::span<std::byte> out,
                        HexCase accepted = HexCase::lower_only);
bool base64_decode_exactly(std::string_view text, std::span<std::byte> out);

// 0-9 A-Z a-z, in this order of digits.
inline constexpr std::string_view kBase62Alphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// `length` characters, each uniform over the alphabet: 5.95 bits of entropy a character.
std::string random_base62(Random& random, std::size_t length);

}  // namespace presetbridge::crypto
