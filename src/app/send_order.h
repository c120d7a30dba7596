// `presetbridge send-order` (spec 12.4): signs an order as a store would and posts it.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "domain/order_event.h"

namespace presetbridge::app {

struct SendOrderOptions {
  std::string provider = "generic";  // any name of a provider's path (spec 2.1)
  std::string url;                   // the integration's webhook URL
  std::string secret;                // the integration's signing secret
  std::string order_id;              // empty: one of its own, from the time
  std::string username;              // empty: the order names none
  std::vector<std::string> skus;     // empty: SAMPLE-1
  std::string email = "buyer@example.com";
  int repeat = 1;  // how often the same bytes are posted, as a store does that was not answered in time
};

// Prints each answer. 0: all were 2xx. 1: one was not, or none came. 2: an option is wrong. Called in a
// process without threads.
int run_send_order(const SendOrderOptions& options, std::ostream& out, std::ostream& err);

// The body of such an order as that provider writes it. A numeric order id is written as a number where the
// provider does so. `now` is when it was paid.
std::string order_payload(domain::Provider provider, const SendOrderOptions& options, Timestamp now);

// Content-Type, the signature of exactly these bytes and, where the provider has one, the topic.
std::vector<std::pair<std::string, std::string>> order_headers(domain::Provider provider,
                                                               std::string_view secret,
                                                               std::string_view body);

}  // namespace presetbridge::app
