// A paid order as each platform writes and signs it, made up: to test a store's connection (spec 9.3,
// 12.4).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "domain/order_event.h"

namespace presetbridge::providers {

struct SampleOrder {
  std::string order_id;  // a number is written as one where the platform does so
  std::string username;  // empty: the order names none
  std::string email;     // empty: none
  // SKU, ids, title and quantity count; what is empty is left out.
  std::vector<domain::OrderLine> lines;
  Timestamp paid_at;
};
std::string sample_order_body(domain::Provider provider, const SampleOrder& order);

// Content-Type, the signature of exactly these bytes and, where the provider has one, the topic.
std::vector<std::pair<std::string, std::string>> sample_order_headers(domain::Provider provider,
                                                                      std::string_view secret,
                                                                      std::string_view body);

}  // namespace presetbridge::providers
