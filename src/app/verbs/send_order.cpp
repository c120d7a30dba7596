#include "app/verbs/send_order.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <ostream>
#include <utility>

#include "app/verbs/calls.h"
#include "app/verbs/outcome.h"
#include "base/utf8.h"
#include "net/runtime.h"
#include "providers/profile.h"
#include "providers/sample_order.h"

namespace presetbridge::app {
namespace {

using domain::Provider;

constexpr int kMisused = 2;
constexpr int kMostRepeats = 10'000;

constexpr int kIgnored = 3;
constexpr std::int64_t kMostQuantity = 1'000'000;

// The provider that a webhook's address names: …/api/webhooks/PROVIDER/INTEGRATION.
std::string_view provider_in(const std::string& url) {
  const auto end = url.rfind('/');
  if (end == std::string::npos || end == 0) return {};
  const auto begin = url.rfind('/', end - 1);
  if (begin == std::string::npos) return {};
  return std::string_view(url).substr(begin + 1, end - begin - 1);
}

bool says_ignored(const std::string& body) {
  boost::system::error_code error;
  const auto answer = boost::json::parse(body, error);
  const auto* object = error ? nullptr : answer.if_object();
  const auto* status = object ? object->if_contains("status") : nullptr;
  return status && status->is_string() && status->get_string() == "ignored";
}

// The flag whose value JSON cannot carry; empty: none.
std::string flag_without_utf8(const SendOrderOptions& o) {
  const auto is_wrong = [](const std::string& text) { return !is_utf8(text); };
  for (const auto& [flag, text] : {std::pair{"--username", &o.username},
                                   {"--email", &o.email},
                                   {"--order-id", &o.order_id},
                                   {"--topic", &o.topic}}) {
    if (is_wrong(*text)) return flag;
  }
  for (const auto& [flag, texts] : {std::pair{"--sku", &o.skus},
                                    {"--variant-id", &o.variant_ids},
                                    {"--product-id", &o.product_ids},
                                    {"--title", &o.titles}}) {
    if (std::ranges::any_of(*texts, is_wrong)) return flag;
  }
  return {};
}

// The problem of the options; empty: none.
std::string problem_of(const SendOrderOptions& o, const providers::Profile* profile) {
  if (o.url.empty()) return "--url is needed: the store's webhook address";
  if (o.secret.empty()) return "--secret is needed: the store's signing secret";
  if (!profile) {
    const auto names = fmt::format("{}", fmt::join(providers::path_names(), ", "));
    return o.provider.empty() ? "--provider is needed, as --url names none, one of: " + names
                              : "--provider must be one of: " + names;
  }
  if (o.repeat < 1 || o.repeat > kMostRepeats) return "--repeat must be 1 to 10000";
  if (o.quantity < 1 || o.quantity > kMostQuantity) return "--quantity must be 1 to 1000000";
  if (!o.topic.empty() && profile->topic_headers.empty())
    return "--topic is not for generic stores, which send none";
  if (const auto flag = flag_without_utf8(o); !flag.empty()) return flag + " must be UTF-8";
  return {};
}

}  // namespace

std::string order_payload(Provider provider, const SendOrderOptions& options, Timestamp now) {
  providers::SampleOrder order{.order_id = options.order_id,
                               .username = options.username,
                               .email = options.email,
                               .lines = {},
                               .paid_at = now};
  const auto add = [&order, &options](std::string title) -> domain::OrderLine& {
    auto& line = order.lines.emplace_back();
    line.title = std::move(title);
    line.quantity = options.quantity;
    return line;
  };
  const auto next = [&order] { return std::to_string(order.lines.size() + 1); };
  for (const auto& sku : options.skus) add("Preset " + sku).sku = sku;
  for (const auto& id : options.variant_ids) add("Item " + next()).variant_id = id;
  for (const auto& id : options.product_ids) add("Item " + next()).product_id = id;
  for (const auto& title : options.titles) add(title);
  return providers::sample_order_body(provider, order);
}

std::vector<std::pair<std::string, std::string>> order_headers(Provider provider, std::string_view secret,
                                                               std::string_view body,
                                                               std::string_view topic) {
  auto headers = providers::sample_order_headers(provider, secret, body);
  const auto names = providers::profile_of(provider).topic_headers;
  if (topic.empty() || names.empty()) return headers;
  for (auto& [name, value] : headers) {
    if (name == names.front()) value = topic;
  }
  return headers;
}

int run_send_order(const SendOrderOptions& given, std::ostream& out, std::ostream& err) {
  const auto* profile =
      providers::find_profile(given.provider.empty() ? provider_in(given.url) : given.provider);
  if (const auto problem = problem_of(given, profile); !problem.empty()) {
    err << "send-order: " << problem << std::endl;
    return kMisused;
  }
  const net::SystemClock clock;
  SendOrderOptions options = given;
  if (options.order_id.empty()) options.order_id = std::to_string(to_unix_ms(clock.now()));
  if (options.skus.empty() && options.variant_ids.empty() && options.product_ids.empty() &&
      options.titles.empty())
    options.skus = {"SAMPLE-1"};
  const std::string body =
      options.payload ? *options.payload : order_payload(profile->provider, options, clock.now());

  Calls calls("presetbridge-send-order");
  bool all_accepted = true;
  bool ignored = false;
  for (int i = 0; i < options.repeat; ++i) {
    const auto result =
        calls.send({.url = options.url,
                    .headers = order_headers(profile->provider, options.secret, body, options.topic),
                    .body = body,
                    .policy = net::AddressPolicy::configured});
    if (const auto* answer = result.answer()) {
      out << answer->status << ' ' << printable(answer->body, true) << std::endl;
      all_accepted = all_accepted && answer->status >= 200 && answer->status < 300;
      ignored = ignored || says_ignored(answer->body);
    } else {
      err << "send-order: no answer: " << printable(result.failure()->message) << std::endl;
      all_accepted = false;
    }
  }
  if (!all_accepted) return kFailed;
  return ignored ? kIgnored : 0;
}

}  // namespace presetbridge::app
