#include "order_event_claims.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace presetbridge;
  static constexpr std::array<std::string_view, 7> topics{"",
                                                          "orders/cancelled",
                                                          "refunds/create",
                                                          "orders/risk_assessment_changed",
                                                          "customers/redact",
                                                          "shop/redact",
                                                          "products/create"};
  fuzz::require_parse(domain::Provider::provider_a, {reinterpret_cast<const char*>(data), size}, topics);
  return 0;
}
