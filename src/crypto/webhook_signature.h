// Signatures of outbound webhooks (spec 10.3). A secret is "whsec_" and base64 of 24 to 64 bytes. Two schemes
// sign each message: X-Vendor-Signature is "sha256=" and hex of HMAC-SHA256 over the exact body, keyed with
// the UTF-8 bytes of the whole secret text; webhook-signature (Standard Webhooks) is "v1," and base64 of
// HMAC-SHA256 over "id.timestamp.body", keyed with the decoded bytes, one for each secret, separated by
// spaces.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace presetbridge::crypto {

// 32 random bytes.
std::string generate_webhook_secret(Random& random);
bool is_webhook_secret(std::string_view text);

struct WebhookMessage {
  std::string_view id;
  std::int64_t timestamp_s = 0;  // Unix time of the attempt
  std::string_view body;         // the exact bytes sent
};

// Header values.
struct WebhookSignatures {
  std::string vendor;                          // X-Vendor-Signature
  std::optional<std::string> vendor_previous;  // X-Vendor-Signature-Previous, while a rotation overlaps
  std::optional<std::string> vendor_older;     // X-Vendor-Signature-Older, while two overlap
  std::string standard;                        // webhook-signature
};

// Signs with the current secret, during a rotation also with the previous one, and during two with the one
// before that. INVALID_WEBHOOK_SECRET when one is not of the form above.
Expected<WebhookSignatures> sign_webhook(const WebhookMessage& message, std::string_view secret,
                                         std::optional<std::string_view> previous_secret = std::nullopt,
                                         std::optional<std::string_view> older_secret = std::nullopt);

// The receiver's side. X-Vendor-Signature alone does not authenticate the time: also verify the other where
// it is sent.
bool verify_vendor_signature(std::string_view secret, std::string_view header, std::string_view body);

enum class WebhookVerdict {
  valid,
  malformed,     // the timestamp is no integer, or the secret is no secret
  stale,         // older than the tolerance
  in_future,     // ahead by more than the tolerance
  not_matching,  // no v1 signature in the header is ours
};

// Headers as received: webhook-id, webhook-timestamp, webhook-signature.
struct StandardWebhookHeaders {
  std::string_view id;
  std::string_view timestamp;
  std::string_view signature;
};

WebhookVerdict verify_standard_signature(std::string_view secret, const StandardWebhookHeaders& headers,
                                         std::string_view body, Timestamp now,
                                         std::chrono::seconds tolerance = std::chrono::minutes{5});

}  // namespace presetbridge::crypto
