// The store platforms that this service listens to, as data (spec 2.1): which names a platform goes by, which
// headers it sends, how it signs, and the pure reader of its payloads.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "domain/order_event.h"

namespace presetbridge::providers {

struct ParseInput;
struct SampleOrder;

enum class SignatureEncoding {
  base64,            // of the HMAC: standard alphabet, padded
  hex_after_sha256,  // `sha256=` exactly, then 64 hexadecimal digits of either case
};

// The first name in each list is the neutral one, the second the real platform's. Header names compare
// without case.
struct Profile {
  domain::Provider provider;
  std::span<const std::string_view> path_names;
  std::string_view platform;  // what people call it ("Shopify"); "" where there is none
  std::span<const std::string_view> signature_headers;
  SignatureEncoding encoding;
  std::span<const std::string_view> topic_headers;
  std::span<const std::string_view> test_headers;
  std::span<const std::string_view> origin_headers;  // where the store is; not signed
  bool origin_is_host = false;                       // they name the host alone, not an address
  // The parts of the URL of an order's page between the store's address and the order's id, and behind it;
  // empty: there is no page.
  std::string_view order_page = {};
  std::string_view order_page_end = {};
  // The field of an unsigned, form-encoded body that the platform posts when a webhook is saved; empty: none.
  std::string_view ping_field = {};
  Expected<domain::OrderEvent> (*read)(const ParseInput&);  // called by parse() only
  std::string (*write_sample)(const SampleOrder&);          // called by sample_order_body() only
  std::string_view sample_topic = {};
};

// The profile that a path segment names, exactly ("provider_a", "shopify"); null for an unknown one.
const Profile* find_profile(std::string_view path_name);
const Profile& profile_of(domain::Provider provider);
// Every name that a path may have for a provider.
const std::vector<std::string_view>& path_names();

// All values of the header fields of that name, in the order received; the name compares without case.
using HeaderValues = std::function<std::vector<std::string_view>(std::string_view name)>;

// The first non-empty value among the headers of these names, "" if there is none.
std::string_view first_header(std::span<const std::string_view> names, const HeaderValues& headers);

// The store's address as its platform says, "https://shop.example/" with the slash; empty where it says none,
// or nothing that is one. The headers are not signed: it may be shown as a link, and no more.
std::string store_origin(const Profile& profile, const HeaderValues& headers);
// The page on which the merchant sees the order at the store; empty where that is not known.
std::string order_url(domain::Provider provider, std::string_view origin, std::string_view order_id);

}  // namespace presetbridge::providers
