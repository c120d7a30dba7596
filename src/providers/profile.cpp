#include "providers/profile.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "providers/generic/reader.h"
#include "providers/generic/sample.h"
#include "providers/provider_a/reader.h"
#include "providers/provider_a/sample.h"
#include "providers/provider_b/reader.h"
#include "providers/provider_b/sample.h"

namespace presetbridge::providers {
namespace {

using Names = std::array<std::string_view, 2>;

constexpr Names kHostedPaths{"provider_a", "shopify"};
constexpr Names kHostedSignature{"X-Hosted-Hmac-Sha256", "X-Shopify-Hmac-Sha256"};
constexpr Names kHostedTopic{"X-Hosted-Topic", "X-Shopify-Topic"};
constexpr Names kHostedTest{"X-Hosted-Test", "X-Shopify-Test"};
constexpr Names kHostedOrigin{"X-Hosted-Shop-Domain", "X-Shopify-Shop-Domain"};
constexpr Names kPluginPaths{"provider_b", "woocommerce"};
constexpr Names kPluginSignature{"X-Plugin-Webhook-Signature", "X-WC-Webhook-Signature"};
constexpr Names kPluginTopic{"X-Plugin-Webhook-Topic", "X-WC-Webhook-Topic"};
constexpr Names kPluginOrigin{"X-Plugin-Webhook-Source", "X-WC-Webhook-Source"};
constexpr std::array<std::string_view, 1> kGenericPaths{"generic"};
constexpr Names kGenericSignature{"X-Webhook-Signature", "X-Vendor-Signature"};

constexpr std::array kProfiles{
    Profile{.provider = domain::Provider::provider_a,
            .path_names = kHostedPaths,
            .platform = "Shopify",
            .signature_headers = kHostedSignature,
            .encoding = SignatureEncoding::base64,
            .topic_headers = kHostedTopic,
            .test_headers = kHostedTest,
            .origin_headers = kHostedOrigin,
            .origin_is_host = true,
            .order_page = "admin/orders/",
            .read = provider_a::read,
            .write_sample = provider_a::write_sample,
            .sample_topic = "orders/paid"},
    Profile{.provider = domain::Provider::provider_b,
            .path_names = kPluginPaths,
            .platform = "WooCommerce",
            .signature_headers = kPluginSignature,
            .encoding = SignatureEncoding::base64,
            .topic_headers = kPluginTopic,
            .test_headers = {},
            .origin_headers = kPluginOrigin,
            .order_page = "wp-admin/post.php?post=",
            .order_page_end = "&action=edit",
            .ping_field = "webhook_id",
            .read = provider_b::read,
            .write_sample = provider_b::write_sample,
            .sample_topic = "order.created"},
    Profile{.provider = domain::Provider::generic,
            .path_names = kGenericPaths,
            .platform = "",
            .signature_headers = kGenericSignature,
            .encoding = SignatureEncoding::hex_after_sha256,
            .topic_headers = {},
            .test_headers = {},
            .origin_headers = {},
            .read = generic::read,
            .write_sample = generic::write_sample},
};

constexpr std::size_t kMostOriginBytes = 300;

bool all_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) { return is_alphanumeric(c) || others.contains(c); });
}

}  // namespace

const Profile* find_profile(std::string_view path_name) {
  for (const auto& profile : kProfiles) {
    const auto names = profile.path_names;
    if (std::ranges::find(names, path_name) != names.end()) return &profile;
  }
  return nullptr;
}

const std::vector<std::string_view>& path_names() {
  static const auto kNames = [] {
    std::vector<std::string_view> names;
    for (const auto& profile : kProfiles)
      names.insert(names.end(), profile.path_names.begin(), profile.path_names.end());
    return names;
  }();
  return kNames;
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

std::string store_origin(const Profile& profile, const HeaderValues& headers) {
  std::string origin(first_header(profile.origin_headers, headers));
  if (origin.empty() || origin.size() > kMostOriginBytes) return {};
  if (profile.origin_is_host) {
    return all_of(origin, ".-") && origin.contains('.') ? "https://" + origin + "/" : std::string();
  }
  const auto host = origin.find("://");
  if (!origin.starts_with("https://") && !origin.starts_with("http://")) return {};
  if (host + 3 == origin.size() || !all_of(std::string_view(origin).substr(host + 3), ".-:/_~%")) return {};
  if (!origin.ends_with('/')) origin += '/';
  return origin;
}

std::string order_url(domain::Provider provider, std::string_view origin, std::string_view order_id) {
  // Their ids are numbers: nothing else goes into an address.
  const bool number =
      !order_id.empty() && std::ranges::all_of(order_id, [](char c) { return c >= '0' && c <= '9'; });
  if (origin.empty() || !number) return {};
  const auto& profile = profile_of(provider);
  if (profile.order_page.empty()) return {};
  return std::string(origin).append(profile.order_page).append(order_id).append(profile.order_page_end);
}

}  // namespace presetbridge::providers
