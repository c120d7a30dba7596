#include "providers/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::providers {
namespace {

struct Received {
  std::string_view header;
  crypto::Sha256 mac;
};

std::unexpected<Error> invalid(std::string message) {
  return fail("INVALID_SIGNATURE", std::move(message));
}

bool decode(SignatureEncoding encoding, std::string_view text, crypto::Sha256& mac) {
  if (encoding == SignatureEncoding::base64) return crypto::base64_decode_exactly(text, mac);
  constexpr std::string_view prefix = "sha256=";
  return text.starts_with(prefix) &&
         crypto::hex_decode_exactly(text.substr(prefix.size()), mac, crypto::HexCase::any);
}

}  // namespace

Expected<void> verify(const Profile& profile, const HeaderValues& headers, std::string_view body,
                      std::span<const std::string_view> secrets) {
  std::vector<Received> received;
  for (const auto name : profile.signature_headers) {
    for (const auto text : headers(name)) {
      Received signature{name, {}};
      if (!decode(profile.encoding, text, signature.mac)) {
        return invalid(profile.encoding == SignatureEncoding::base64
                           ? fmt::format("The {} header is not the Base64 of an HMAC-SHA256.", name)
                           : fmt::format("The {} header is not `sha256=` and 64 hexadecimal digits.", name));
      }
      received.push_back(signature);
    }
  }
  if (received.empty()) {
    return invalid(
        fmt::format("The signature header is missing: {}.", fmt::join(profile.signature_headers, " or ")));
  }

  std::vector<crypto::Sha256> expected;
  for (const auto secret : secrets) {
    if (!secret.empty()) expected.push_back(crypto::hmac_sha256(secret, body));
  }
  for (const auto& signature : received) {
    const bool matches = std::ranges::any_of(
        expected, [&](const auto& mac) { return crypto::equal_constant_time(mac, signature.mac); });
    if (!matches) {
      return invalid(fmt::format("The signature in {} does not match the request body.", signature.header));
    }
  }
  return {};
}

bool is_unsigned_ping(const Profile& profile, std::string_view body) {
  const auto name = profile.ping_field;
  if (name.empty() || !body.starts_with(name) || !body.substr(name.size()).starts_with('=')) return false;
  body.remove_prefix(name.size() + 1);
  return !body.empty() && body.size() <= 20 &&
         std::ranges::all_of(body, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace presetbridge::providers
