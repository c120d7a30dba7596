#include "crypto/webhook_signature.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/secret.h"

namespace presetbridge::crypto {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::string_view kVendorPrefix = "sha256=";
constexpr std::string_view kStandardPrefix = "v1,";

std::optional<Bytes> decoded_secret(std::string_view secret) {
  if (!secret.starts_with(kSecretPrefix)) return std::nullopt;
  // Bounded first, so that a hostile text is not decoded in full.
  if (secret.size() > kSecretPrefix.size() + 88) return std::nullopt;
  auto raw = base64_decode(secret.substr(kSecretPrefix.size()));
  if (!raw || raw->size() < 24 || raw->size() > 64) return std::nullopt;
  return raw;
}

std::string vendor_signature(std::string_view secret, std::string_view body) {
  return std::string(kVendorPrefix) + hex_encode(hmac_sha256(secret, body));
}

std::string signed_content(std::string_view id, std::string_view timestamp, std::string_view body) {
  std::string content;
  content.reserve(id.size() + timestamp.size() + body.size() + 2);
  content.append(id).append(1, '.').append(timestamp).append(1, '.').append(body);
  return content;
}

// Nothing if `secret` is no secret.
std::optional<Sha256> standard_mac(std::string_view secret, std::string_view content) {
  auto key = decoded_secret(secret);
  if (!key) return std::nullopt;
  const auto mac = hmac_sha256(*key, content);
  wipe(*key);
  return mac;
}

}  // namespace

std::string generate_webhook_secret(Random& random) {
  std::array<std::byte, 32> raw;
  random.fill(raw);
  auto secret = std::string(kSecretPrefix) + base64_encode(raw);
  wipe(raw);
  return secret;
}

bool is_webhook_secret(std::string_view text) {
  auto raw = decoded_secret(text);
  if (!raw) return false;
  wipe(*raw);
  return true;
}

Expected<WebhookSignatures> sign_webhook(const WebhookMessage& message, std::string_view secret,
                                         std::optional<std::string_view> previous_secret,
                                         std::optional<std::string_view> older_secret) {
  const auto refusal = [] {
    return fail("INVALID_WEBHOOK_SECRET", "A webhook secret is whsec_ and base64 of 24 to 64 bytes.");
  };
  const auto content = signed_content(message.id, std::to_string(message.timestamp_s), message.body);
  const auto mac = standard_mac(secret, content);
  if (!mac) return refusal();
  WebhookSignatures signatures{.vendor = vendor_signature(secret, message.body),
                               .vendor_previous = std::nullopt,
                               .vendor_older = std::nullopt,
                               .standard = std::string(kStandardPrefix) + base64_encode(*mac)};
  for (const auto& [former, vendor] :
       {std::pair{previous_secret, &signatures.vendor_previous}, {older_secret, &signatures.vendor_older}}) {
    if (!former) continue;
    const auto former_mac = standard_mac(*former, content);
    if (!former_mac) return refusal();
    *vendor = vendor_signature(*former, message.body);
    signatures.standard += fmt::format(" {}{}", kStandardPrefix, base64_encode(*former_mac));
  }
  return signatures;
}

bool verify_vendor_signature(std::string_view secret, std::string_view header, std::string_view body) {
  Sha256 sent;
  if (!header.starts_with(kVendorPrefix)) return false;
  if (!hex_decode_exactly(header.substr(kVendorPrefix.size()), sent, HexCase::any)) return false;
  return equal_constant_time(sent, hmac_sha256(secret, body));
}

WebhookVerdict verify_standard_signature(std::string_view secret, const StandardWebhookHeaders& headers,
                                         std::string_view body, Timestamp now,
                                         std::chrono::seconds tolerance) {
  std::int64_t timestamp_s = 0;
  const auto* end = headers.timestamp.data() + headers.timestamp.size();
  const auto [parsed_to, error] = std::from_chars(headers.timestamp.data(), end, timestamp_s);
  // A few thousand years are enough, and leave the arithmetic below no overflow.
  constexpr std::int64_t latest_s = 253'402'300'799;
  if (error != std::errc() || parsed_to != end || timestamp_s < 0 || timestamp_s > latest_s) {
    return WebhookVerdict::malformed;
  }
  const Timestamp sent_at = from_unix_ms(timestamp_s * 1000);
  if (sent_at < now - tolerance) return WebhookVerdict::stale;
  if (sent_at > now + tolerance) return WebhookVerdict::in_future;

  const auto expected = standard_mac(secret, signed_content(headers.id, headers.timestamp, body));
  if (!expected) return WebhookVerdict::malformed;
  auto rest = headers.signature;
  while (!rest.empty()) {
    const auto space = rest.find(' ');
    const auto one = rest.substr(0, space);
    rest = space == rest.npos ? std::string_view() : rest.substr(space + 1);
    Sha256 sent;
    if (one.starts_with(kStandardPrefix) && base64_decode_exactly(one.substr(kStandardPrefix.size()), sent) &&
        equal_constant_time(sent, *expected)) {
      return WebhookVerdict::valid;
    }
  }
  return WebhookVerdict::not_matching;
}

}  // namespace presetbridge::crypto
