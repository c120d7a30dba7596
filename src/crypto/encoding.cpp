#include "crypto/encoding.h"

#include <sodium.h>

#include <algorithm>
#include <array>

namespace presetbridge::crypto {
namespace {

const unsigned char* readable(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* writable(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

bool has_upper_case(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string encode(ByteView bytes, int variant) {
  std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
  sodium_bin2base64(text.data(), text.size(), readable(bytes), bytes.size(), variant);
  text.pop_back();  // the terminating zero
  return text;
}

// libsodium 1.0.18 reads most bytes from 0x80 on as the letter A where char is signed.
bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
}

// How many bytes were written, or nothing.
std::optional<std::size_t> decode(std::string_view text, std::span<std::byte> out, int variant) {
  if (!is_ascii(text)) return std::nullopt;
  std::size_t size = 0;
  if (sodium_base642bin(writable(out), out.size(), text.data(), text.size(), nullptr, &size, nullptr,
                        variant) != 0) {
    return std::nullopt;
  }
  return size;
}

std::optional<Bytes> decode(std::string_view text, int variant) {
  Bytes out(text.size() / 4 * 3 + 3);
  const auto size = decode(text, out, variant);
  if (!size) return std::nullopt;
  out.resize(*size);
  return out;
}

}  // namespace

std::string hex_encode(ByteView bytes) {
  std::string text(bytes.size() * 2 + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), readable(bytes), bytes.size());
  text.pop_back();  // the terminating zero
  return text;
}

bool hex_decode_exactly(std::string_view text, std::span<std::byte> out, HexCase accepted) {
  if (out.empty()) return text.empty();  // libsodium takes no null pointer
  if (text.size() != out.size() * 2) return false;
  if (accepted == HexCase::lower_only && has_upper_case(text)) return false;
  std::size_t size = 0;
  return sodium_hex2bin(writable(out), out.size(), text.data(), text.size(), nullptr, &size, nullptr) == 0 &&
         size == out.size();
}

std::string base64_encode(ByteView bytes) {
  return encode(bytes, sodium_base64_VARIANT_ORIGINAL);
}
std::optional<Bytes> base64_decode(std::string_view text) {
  return decode(text, sodium_base64_VARIANT_ORIGINAL);
}

std::string base64url_encode(ByteView bytes) {
  return encode(bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}
std::optional<Bytes> base64url_decode(std::string_view text) {
  return decode(text, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

bool base64_decode_exactly(std::string_view text, std::span<std::byte> out) {
  if (out.empty()) return text.empty();
  return decode(text, out, sodium_base64_VARIANT_ORIGINAL) == out.size();
}

std::string random_base62(Random& random, std::size_t length) {
  // 248 is the largest multiple of 62 that a byte holds: bytes from there on would favour the first letters.
  constexpr unsigned fair_limit = 248;
  std::string text;
  text.reserve(length);
  std::array<std::byte, 64> pool;
  while (text.size() < length) {
    random.fill(pool);
    for (const auto b : pool) {
      if (text.size() == length) break;
      const auto value = std::to_integer<unsigned>(b);
      if (value < fair_limit) text.push_back(kBase62Alphabet[value % 62]);
    }
  }
  sodium_memzero(pool.data(), pool.size());
  return text;
}

}  // namespace presetbridge::crypto
