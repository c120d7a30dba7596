// `presetbridge send-order` (spec 12.4): signs an order as a store would and posts it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "domain/order_event.h"

namespace presetbridge::app {

struct SendOrderOptions {
  std::string provider;  // any name of a provider's path (spec 2.1); empty: the one in `url`
  std::string url;       // the integration's webhook URL
  std::string secret;    // the integration's signing secret
  std::string order_id;  // empty: one of its own, from the time
  std::string username;  // empty: the order names none
  // A line each, by what mappings are found by (spec 2.10); without any one of the SKU SAMPLE-1.
  std::vector<std::string> skus = {};
  std::vector<std::string> variant_ids = {};
  std::vector<std::string> product_ids = {};
  std::vector<std::string> titles = {};
  std::int64_t quantity = 1;  // of each line
  std::string email = "buyer@example.com";
  std::string topic = {};                   // empty: that of a paid order
  std::optional<std::string> payload = {};  // posted as it is, instead of an order of the fields above
  int repeat = 1;  // how often the same bytes are posted, as a store does that was not answered in time
};

// Prints each answer. 0: all were 2xx. 1: one was not, or none came. 2: an option is wrong. 3: all were 2xx,
// and one said that the order delivers nothing (`ignored`). Called in a process without threads.
int run_send_order(const SendOrderOptions& options, std::ostream& out, std::ostream& err);

// The body of such an order as that provider writes it. A numeric order id is written as a number where the
// provider does so. `now` is when it was paid.
std::string order_payload(domain::Provider provider, const SendOrderOptions& options, Timestamp now);

// Content-Type, the signature of exactly these bytes and, where the provider has one, the topic: this one, or
// that of a paid order.
std::vector<std::pair<std::string, std::string>> order_headers(domain::Provider provider,
                                                               std::string_view secret, std::string_view body,
                                                               std::string_view topic = {});

}  // namespace presetbridge::app
