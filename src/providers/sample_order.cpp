#include "providers/sample_order.h"

#include <boost/json.hpp>
#include <charconv>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "providers/profile.h"

namespace presetbridge::providers {
namespace {

namespace json = boost::json;
using domain::Provider;

json::value number_if_possible(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text)
    return number;
  return json::value(text);
}

void put(json::object& to, std::string_view name, const std::string& text) {
  if (!text.empty()) to.emplace(name, text);
}
void put_id(json::object& to, std::string_view name, const std::string& text) {
  if (!text.empty()) to.emplace(name, number_if_possible(text));
}

json::object provider_a_order(const SampleOrder& o) {
  const auto paid_at = to_iso8601(o.paid_at);
  json::array lines;
  for (const auto& line : o.lines) {
    json::object one{{"id", 14'000'000'001 + static_cast<std::int64_t>(lines.size())}};
    put_id(one, "product_id", line.product_id);
    put_id(one, "variant_id", line.variant_id);
    put(one, "sku", line.sku);
    put(one, "title", line.title);
    put(one, "name", line.title);
    one.emplace("quantity", line.quantity);
    one.emplace("current_quantity", line.quantity);
    one.emplace("price", "15.00");
    one.emplace("requires_shipping", false);
    lines.push_back(std::move(one));
  }
  json::array notes;
  if (!o.username.empty()) notes.push_back({{"name", "vendor_username"}, {"value", o.username}});
  return {{"id", number_if_possible(o.order_id)},
          {"name", "#" + o.order_id},
          {"order_number", number_if_possible(o.order_id)},
          {"email", o.email},
          {"created_at", paid_at},
          {"updated_at", paid_at},
          {"cancelled_at", nullptr},
          {"currency", "EUR"},
          {"financial_status", "paid"},
          {"fulfillment_status", nullptr},
          {"test", false},
          {"note", nullptr},
          {"note_attributes", std::move(notes)},
          {"line_items", std::move(lines)},
          {"refunds", json::array()}};
}

json::object provider_b_order(const SampleOrder& o) {
  const auto paid_at = to_iso8601(o.paid_at).substr(0, 19);  // this platform writes UTC without saying so
  json::array lines;
  for (const auto& line : o.lines) {
    json::object one{{"id", 40'001 + static_cast<std::int64_t>(lines.size())}};
    put(one, "name", line.title);
    put_id(one, "product_id", line.product_id);
    one.emplace("variation_id",
                line.variant_id.empty() ? json::value(0) : number_if_possible(line.variant_id));
    one.emplace("quantity", line.quantity);
    put(one, "sku", line.sku);
    one.emplace("total", "15.00");
    one.emplace("meta_data", json::array());
    lines.push_back(std::move(one));
  }
  json::array meta;
  if (!o.username.empty())
    meta.push_back({{"id", 91'001}, {"key", "vendor_username"}, {"value", o.username}});
  return {{"id", number_if_possible(o.order_id)},
          {"order_key", "wc_order_" + o.order_id},
          {"number", o.order_id},
          {"status", "processing"},
          {"currency", "EUR"},
          {"date_created_gmt", paid_at},
          {"date_modified_gmt", paid_at},
          {"date_paid_gmt", paid_at},
          {"billing", {{"email", o.email}}},
          {"meta_data", std::move(meta)},
          {"line_items", std::move(lines)},
          {"refunds", json::array()}};
}

json::object generic_order(const SampleOrder& o) {
  json::array items;
  for (const auto& line : o.lines) {
    json::object one;
    put(one, "sku", line.sku);
    put(one, "productId", line.product_id);
    put(one, "variantId", line.variant_id);
    put(one, "title", line.title);
    one.emplace("quantity", line.quantity);
    items.push_back(std::move(one));
  }
  json::object order{{"orderId", o.order_id}};
  put(order, "customerEmail", o.email);
  put(order, "targetUsername", o.username);
  order.emplace("items", std::move(items));
  return order;
}

}  // namespace

std::string sample_order_body(Provider provider, const SampleOrder& order) {
  switch (provider) {
    case Provider::provider_a:
      return json::serialize(provider_a_order(order));
    case Provider::provider_b:
      return json::serialize(provider_b_order(order));
    case Provider::generic:
      break;
  }
  return json::serialize(generic_order(order));
}

std::vector<std::pair<std::string, std::string>> sample_order_headers(Provider provider,
                                                                      std::string_view secret,
                                                                      std::string_view body) {
  const auto& profile = profile_of(provider);
  const auto digest = crypto::hmac_sha256(secret, body);
  const bool hex = profile.encoding == SignatureEncoding::hex_after_sha256;
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Type", "application/json"},
      {std::string(profile.signature_headers.front()),
       hex ? "sha256=" + crypto::hex_encode(digest) : crypto::base64_encode(digest)}};
  if (!profile.topic_headers.empty()) {
    headers.emplace_back(profile.topic_headers.front(),
                         provider == Provider::provider_a ? "orders/paid" : "order.created");
  }
  return headers;
}

}  // namespace presetbridge::providers
