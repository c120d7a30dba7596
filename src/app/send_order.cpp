#include "app/send_order.h"

#include <algorithm>
#include <future>
#include <ostream>

#include "net/curl_client.h"
#include "net/runtime.h"
#include "providers/profile.h"
#include "providers/sample_order.h"

namespace presetbridge::app {
namespace {

using domain::Provider;

constexpr int kFailed = 1;
constexpr int kMisused = 2;
constexpr int kMostRepeats = 10'000;

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
  providers::SampleOrder order{.order_id = options.order_id,
                               .username = options.username,
                               .email = options.email,
                               .lines = {},
                               .paid_at = now};
  for (const auto& sku : options.skus) {
    const auto n = std::to_string(order.lines.size() + 1);
    auto& line = order.lines.emplace_back();
    line.sku = sku;
    line.title = "Preset " + sku;
    if (provider == Provider::generic) continue;
    line.product_id = "810000000" + n;
    if (provider == Provider::provider_a) line.variant_id = "4500000000" + n;
  }
  return providers::sample_order_body(provider, order);
}

std::vector<std::pair<std::string, std::string>> order_headers(Provider provider, std::string_view secret,
                                                               std::string_view body) {
  return providers::sample_order_headers(provider, secret, body);
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
