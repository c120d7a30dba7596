#include "app/send_order.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <future>
#include <ostream>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "net/curl_client.h"
#include "net/runtime.h"
#include "providers/profile.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;
using domain::Provider;

constexpr int kFailed = 1;
constexpr int kMisused = 2;
constexpr int kMostRepeats = 10'000;

json::value number_if_possible(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text)
    return number;
  return json::value(text);
}

json::object provider_a_order(const SendOrderOptions& o, const std::string& now) {
  json::array lines;
  for (const auto& sku : o.skus) {
    const auto n = static_cast<std::int64_t>(lines.size()) + 1;
    lines.push_back({{"id", 14'000'000'000 + n},
                     {"product_id", 8'100'000'000 + n},
                     {"variant_id", 45'000'000'000 + n},
                     {"sku", sku},
                     {"title", "Preset " + sku},
                     {"name", "Preset " + sku},
                     {"quantity", 1},
                     {"current_quantity", 1},
                     {"price", "15.00"},
                     {"requires_shipping", false}});
  }
  json::array notes;
  if (!o.username.empty()) notes.push_back({{"name", "vendor_username"}, {"value", o.username}});
  return {{"id", number_if_possible(o.order_id)},
          {"name", "#" + o.order_id},
          {"order_number", number_if_possible(o.order_id)},
          {"email", o.email},
          {"created_at", now},
          {"updated_at", now},
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

json::object provider_b_order(const SendOrderOptions& o, std::string now) {
  now = now.substr(0, 19);  // this platform writes UTC without saying so
  json::array lines;
  for (const auto& sku : o.skus) {
    const auto n = static_cast<std::int64_t>(lines.size()) + 1;
    lines.push_back({{"id", 40'000 + n},
                     {"name", "Preset " + sku},
                     {"product_id", 800 + n},
                     {"variation_id", 0},
                     {"quantity", 1},
                     {"sku", sku},
                     {"total", "15.00"},
                     {"meta_data", json::array()}});
  }
  json::array meta;
  if (!o.username.empty())
    meta.push_back({{"id", 91'001}, {"key", "vendor_username"}, {"value", o.username}});
  return {{"id", number_if_possible(o.order_id)},
          {"order_key", "wc_order_" + o.order_id},
          {"number", o.order_id},
          {"status", "processing"},
          {"currency", "EUR"},
          {"date_created_gmt", now},
          {"date_modified_gmt", now},
          {"date_paid_gmt", now},
          {"billing", {{"email", o.email}}},
          {"meta_data", std::move(meta)},
          {"line_items", std::move(lines)},
          {"refunds", json::array()}};
}

json::object generic_order(const SendOrderOptions& o) {
  json::array items;
  for (const auto& sku : o.skus) items.push_back({{"sku", sku}, {"title", "Preset " + sku}, {"quantity", 1}});
  json::object order{{"orderId", o.order_id}, {"customerEmail", o.email}};
  if (!o.username.empty()) order["targetUsername"] = o.username;
  order["items"] = std::move(items);
  return order;
}

std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) c = '?';
  }
  return text;
}

Task<net::HttpResult> post(net::HttpClient& client, Executor& executor, net::OutgoingRequest request) {
  co_return co_await client.send(executor, std::move(request));
}

}  // namespace

std::string order_payload(Provider provider, const SendOrderOptions& options, Timestamp now) {
  switch (provider) {
    case Provider::provider_a:
      return json::serialize(provider_a_order(options, to_iso8601(now)));
    case Provider::provider_b:
      return json::serialize(provider_b_order(options, to_iso8601(now)));
    case Provider::generic:
      break;
  }
  return json::serialize(generic_order(options));
}

std::vector<std::pair<std::string, std::string>> order_headers(Provider provider, std::string_view secret,
                                                               std::string_view body) {
  const auto& profile = providers::profile_of(provider);
  const auto digest = crypto::hmac_sha256(secret, body);
  const bool hex = profile.encoding == providers::SignatureEncoding::hex_after_sha256;
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

int run_send_order(const SendOrderOptions& given, std::ostream& out, std::ostream& err) {
  const auto* profile = providers::find_profile(given.provider);
  if (profile == nullptr || given.url.empty() || given.secret.empty() || given.repeat < 1 ||
      given.repeat > kMostRepeats) {
    err << "send-order: give --provider generic, provider_a or provider_b, --url, --secret, and --repeat "
           "from 1 to 10000"
        << std::endl;
    return kMisused;
  }
  const net::SystemClock clock;
  SendOrderOptions options = given;
  if (options.order_id.empty()) options.order_id = std::to_string(to_unix_ms(clock.now()));
  if (options.skus.empty()) options.skus = {"SAMPLE-1"};
  const std::string body = order_payload(profile->provider, options, clock.now());

  net::Runtime runtime(1);
  net::SystemResolver resolver;
  net::CurlClient client(runtime, 0, resolver, {.user_agent = "presetbridge-send-order"});
  runtime.start();
  bool all_accepted = true;
  for (int i = 0; i < options.repeat; ++i) {
    net::OutgoingRequest request{.url = options.url,
                                 .headers = order_headers(profile->provider, options.secret, body),
                                 .body = body,
                                 .policy = net::AddressPolicy::configured};
    std::promise<net::HttpResult> answered;
    auto& core = runtime.scheduler(0);
    core.post([&] {
      spawn(post(client, core, std::move(request)), [&answered](Outcome<net::HttpResult> outcome) {
        if (outcome.exception) {
          answered.set_exception(outcome.exception);
        } else {
          answered.set_value(std::move(*outcome.value));
        }
      });
    });
    const auto result = answered.get_future().get();
    if (const auto* answer = result.answer()) {
      out << answer->status << ' ' << printable(answer->body) << std::endl;
      all_accepted = all_accepted && answer->status >= 200 && answer->status < 300;
    } else {
      err << "send-order: no answer: " << printable(result.failure()->message) << std::endl;
      all_accepted = false;
    }
  }
  client.stop();
  runtime.stop();
  return all_accepted ? 0 : kFailed;
}

}  // namespace presetbridge::app
