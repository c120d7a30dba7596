#include "crypto/link_token.h"

#include <algorithm>
#include <span>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::crypto {
namespace {

using Mac = decltype(LinkClaim::mac);
constexpr std::size_t kIdBytes = 8;
constexpr std::size_t kTokenBytes = kIdBytes + std::tuple_size_v<Mac>;

void write_big_endian(std::int64_t value, std::span<std::byte, kIdBytes> out) {
  auto rest = static_cast<std::uint64_t>(value);
  for (std::size_t i = out.size(); i-- > 0; rest >>= 8) out[i] = static_cast<std::byte>(rest & 0xff);
}

std::int64_t read_big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte b : bytes) value = value << 8 | std::to_integer<std::uint64_t>(b);
  return static_cast<std::int64_t>(value);
}

Mac mac_of(ByteView key, std::int64_t id, std::int64_t version) {
  std::array<std::byte, 2 * kIdBytes> message;
  const std::span all(message);
  write_big_endian(id, all.first<kIdBytes>());
  write_big_endian(version, all.last<kIdBytes>());
  const auto whole = hmac_sha256(key, message);
  Mac mac;
  std::ranges::copy(std::span(whole).first<std::tuple_size_v<Mac>>(), mac.begin());
  return mac;
}

}  // namespace

std::string make_link_token(ByteView key, std::int64_t id, std::int64_t version) {
  std::array<std::byte, kTokenBytes> raw;
  write_big_endian(id, std::span(raw).first<kIdBytes>());
  std::ranges::copy(mac_of(key, id, version), raw.begin() + kIdBytes);
  return base64url_encode(raw);
}

std::optional<LinkClaim> parse_link_token(std::string_view text) {
  if (text.size() != kLinkTokenLength) return std::nullopt;
  const auto raw = base64url_decode(text);
  if (!raw || raw->size() != kTokenBytes) return std::nullopt;
  const std::span all(*raw);
  LinkClaim claim{.id = read_big_endian(all.first(kIdBytes))};
  if (claim.id <= 0) return std::nullopt;
  std::ranges::copy(all.subspan(kIdBytes), claim.mac.begin());
  return claim;
}

bool is_link_of(ByteView key, const LinkClaim& claim, std::int64_t version) {
  return equal_constant_time(mac_of(key, claim.id, version), claim.mac);
}

}  // namespace presetbridge::crypto
