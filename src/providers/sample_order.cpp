#include "providers/sample_order.h"

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "providers/profile.h"

namespace presetbridge::providers {

std::string sample_order_body(domain::Provider provider, const SampleOrder& order) {
  return profile_of(provider).write_sample(order);
}

std::vector<std::pair<std::string, std::string>> sample_order_headers(domain::Provider provider,
                                                                      std::string_view secret,
                                                                      std::string_view body) {
  const auto& profile = profile_of(provider);
  const auto digest = crypto::hmac_sha256(secret, body);
  const bool hex = profile.encoding == SignatureEncoding::hex_after_sha256;
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Type", "application/json"},
      {std::string(profile.signature_headers.front()),
       hex ? "sha256=" + crypto::hex_encode(digest) : crypto::base64_encode(digest)}};
  if (!profile.topic_headers.empty())
    headers.emplace_back(profile.topic_headers.front(), profile.sample_topic);
  return headers;
}

}  // namespace presetbridge::providers
