#include "crypto/api_key.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <cassert>
#include <cstdint>

#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

constexpr std::size_t kSecretLength = 32;
constexpr std::size_t kChecksumLength = 6;  // 62^6 > 2^32
static_assert(kApiKeyPrefix.size() + kSecretLength + kChecksumLength == kApiKeyLength);

std::string checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  std::uint32_t rest = crc.checksum();
  std::string digits(kChecksumLength, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, rest /= 62)
    *digit = kBase62Alphabet[rest % 62];
  return digits;
}

}  // namespace

std::string generate_api_key(Random& random) {
  std::string key(kApiKeyPrefix);
  key += random_base62(random, kSecretLength);
  key += checksum(key);
  return key;
}

bool is_well_formed_api_key(std::string_view text) {
  if (text.size() != kApiKeyLength || !text.starts_with(kApiKeyPrefix)) return false;
  if (text.find_first_not_of(kBase62Alphabet, kApiKeyPrefix.size()) != text.npos) return false;
  const auto covered = text.substr(0, kApiKeyLength - kChecksumLength);
  return text.substr(covered.size()) == checksum(covered);
}

std::string api_key_preview(std::string_view key) {
  assert(is_well_formed_api_key(key));
  std::string preview(kApiKeyPrefix);
  preview += "…";
  preview += key.substr(key.size() - std::min<std::size_t>(key.size(), 4));
  return preview;
}

Sha256 api_key_hash(std::string_view key) {
  return sha256(key);
}

}  // namespace presetbridge::crypto
