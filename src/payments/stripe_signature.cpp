#include "payments/stripe_signature.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::payments {
namespace {

constexpr std::size_t kLongestHeader = 4'096;
constexpr std::size_t kMostSignatures = 16;

struct Parts {
  std::string_view time;
  std::int64_t seconds = 0;
  std::vector<crypto::Sha256> signatures;  // of the scheme v1
};

std::optional<Parts> parse(std::string_view header) {
  if (header.size() > kLongestHeader) return std::nullopt;
  Parts parts;
  while (!header.empty()) {
    const auto end = std::min(header.find(','), header.size());
    auto part = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto name = part.substr(0, equals);
    const auto value = part.substr(equals + 1);
    if (name == "t") {
      if (!parts.time.empty()) return std::nullopt;
      parts.time = value;
    }
    crypto::Sha256 signature;
    if (name == "v1" && parts.signatures.size() < kMostSignatures &&
        crypto::hex_decode_exactly(value, signature))
      parts.signatures.push_back(signature);
  }
  const auto [end, error] =
      std::from_chars(parts.time.data(), parts.time.data() + parts.time.size(), parts.seconds);
  constexpr std::int64_t kFarthest = 253'402'300'799;  // the end of the year 9999
  if (error != std::errc{} || end != parts.time.data() + parts.time.size() || parts.seconds < 0 ||
      parts.seconds > kFarthest || parts.signatures.empty())
    return std::nullopt;
  return parts;
}

}  // namespace

StripeVerdict verify_stripe(std::string_view header, std::string_view body,
                            std::span<const crypto::SecretString> secrets, Timestamp now) {
  const auto parts = parse(header);
  if (!parts) return StripeVerdict::malformed;
  std::string signed_text;
  signed_text.reserve(parts->time.size() + 1 + body.size());
  signed_text.append(parts->time).append(1, '.').append(body);
  bool matches = false;
  for (const auto& secret : secrets) {
    const auto ours = crypto::hmac_sha256(secret.reveal(), signed_text);
    for (const auto& theirs : parts->signatures) {
      if (crypto::equal_constant_time(ours, theirs)) matches = true;
    }
  }
  if (!matches) return StripeVerdict::not_matching;
  const auto at = from_unix_ms(parts->seconds * 1'000);
  if (at < now - kStripeTolerance) return StripeVerdict::stale;
  if (at > now + kStripeTolerance) return StripeVerdict::in_future;
  return StripeVerdict::valid;
}

}  // namespace presetbridge::payments
