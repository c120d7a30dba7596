#include "providers/profile.h"

#include <algorithm>
#include <array>

#include "providers/generic/reader.h"
#include "providers/provider_a/reader.h"
#include "providers/provider_b/reader.h"

namespace presetbridge::providers {
namespace {

using Names = std::array<std::string_view, 2>;

constexpr Names kHostedPaths{"provider_a", "shopify"};
constexpr Names kHostedSignature{"X-Hosted-Hmac-Sha256", "X-Shopify-Hmac-Sha256"};
constexpr Names kHostedTopic{"X-Hosted-Topic", "X-Shopify-Topic"};
constexpr Names kHostedEventId{"X-Hosted-Event-Id", "X-Shopify-Event-Id"};
constexpr Names kHostedTest{"X-Hosted-Test", "X-Shopify-Test"};
constexpr Names kPluginPaths{"provider_b", "woocommerce"};
constexpr Names kPluginSignature{"X-Plugin-Webhook-Signature", "X-WC-Webhook-Signature"};
constexpr Names kPluginTopic{"X-Plugin-Webhook-Topic", "X-WC-Webhook-Topic"};
constexpr std::array<std::string_view, 1> kGenericPaths{"generic"};
constexpr Names kGenericSignature{"X-Webhook-Signature", "X-Vendor-Signature"};

constexpr std::array kProfiles{
    Profile{.provider = domain::Provider::provider_a,
            .path_names = kHostedPaths,
            .platform = "Shopify",
            .signature_headers = kHostedSignature,
            .encoding = SignatureEncoding::base64,
            .topic_headers = kHostedTopic,
            .event_id_headers = kHostedEventId,
            .test_headers = kHostedTest,
            .read = provider_a::read},
    Profile{.provider = domain::Provider::provider_b,
            .path_names = kPluginPaths,
            .platform = "WooCommerce",
            .signature_headers = kPluginSignature,
            .encoding = SignatureEncoding::base64,
            .topic_headers = kPluginTopic,
            .event_id_headers = {},
            .test_headers = {},
            .read = provider_b::read},
    Profile{.provider = domain::Provider::generic,
            .path_names = kGenericPaths,
            .platform = "",
            .signature_headers = kGenericSignature,
            .encoding = SignatureEncoding::hex_after_sha256,
            .topic_headers = {},
            .event_id_headers = {},
            .test_headers = {},
            .read = generic::read},
};

}  // namespace

const Profile* find_profile(std::string_view path_name) {
  for (const auto& profile : kProfiles) {
    const auto names = profile.path_names;
    if (std::ranges::find(names, path_name) != names.end()) return &profile;
  }
  return nullptr;
}

const Profile& profile_of(domain::Provider provider) {
  return *std::ranges::find(kProfiles, provider, &Profile::provider);
}

std::string_view first_header(std::span<const std::string_view> names, const HeaderValues& headers) {
  for (const auto name : names) {
    for (const auto value : headers(name)) {
      if (!value.empty()) return value;
    }
  }
  return {};
}

}  // namespace presetbridge::providers
