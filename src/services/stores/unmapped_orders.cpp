#include "services/stores/unmapped_orders.h"

#include <limits>
#include <vector>

#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

bool each_unmapped_order(storage::Tx& tx, IntegrationId integration,
                         const std::function<void(const storage::OrderRow&, domain::OrderState&)>& each) {
  constexpr int kBatch = 20;
  OrderId before{std::numeric_limits<std::int64_t>::max()};
  std::size_t bytes = 0;
  for (int seen = 0; seen < kMostUnmappedOrders && bytes < kMostUnmappedBytes; seen += kBatch) {
    const auto rows = find_unmapped_orders(tx, integration, before, kBatch);
    std::vector<DeliveryId> deliveries;
    for (const auto& row : rows) {
      if (row.outcome == domain::OrderOutcome::delivery) deliveries.emplace_back(row.id.value);
    }
    const auto invalidated = find_invalidated_by_merchant(tx, deliveries);
    for (const auto& row : rows) {
      before = row.id;
      bytes += row.state.size();
      auto state = domain::decode_order_state(row.state);
      if (!state) throw Error(state.error());
      const bool is_over =
          state->erased || state->stopped() || invalidated.contains(DeliveryId{row.id.value});
      if (!is_over && !state->too_large) each(row, *state);
    }
    if (rows.size() < kBatch) return true;
  }
  return false;
}

}  // namespace presetbridge::services
