#include "services/stores/unmapped_orders.h"

#include <limits>

namespace presetbridge::services {

bool each_unmapped_order(storage::Tx& tx, IntegrationId integration,
                         const std::function<void(const storage::OrderRow&, domain::OrderState&)>& each) {
  constexpr int kPiece = 20;
  OrderId before{std::numeric_limits<std::int64_t>::max()};
  std::size_t bytes = 0;
  for (int seen = 0; seen < kMostUnmappedOrders && bytes < kMostUnmappedBytes; seen += kPiece) {
    const auto rows = find_unmapped_orders(tx, integration, before, kPiece);
    for (const auto& row : rows) {
      before = row.id;
      bytes += row.state.size();
      auto state = domain::decode_order_state(row.state);
      if (!state) throw Error(state.error());
      if (!state->erased && !state->stopped()) each(row, *state);
    }
    if (rows.size() < kPiece) return true;
  }
  return false;
}

}  // namespace presetbridge::services
