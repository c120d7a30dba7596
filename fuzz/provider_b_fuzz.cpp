#include "order_event_claims.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace presetbridge;
  static constexpr std::array<std::string_view, 4> topics{"", "order.restored", "order.deleted", "action.x"};
  fuzz::require_parse(domain::Provider::provider_b, {reinterpret_cast<const char*>(data), size}, topics);
  return 0;
}
