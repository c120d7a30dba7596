#include "services/delivery/remap.h"

#include "services/delivery/fulfilment.h"
#include "storage/credential_store.h"
#include "storage/integration_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {

bool remap(storage::Tx& tx, DeliveryChanges& changes, const storage::DeliveryRow& row) {
  // Not locked: the delivery is, and orders are locked before deliveries. Who changes the order meanwhile
  // goes on to align the items once this delivery is free.
  const auto order = find_order(tx, OrderId{row.id.value});
  if (!order) return false;
  const auto state = domain::decode_order_state(order->state);
  if (!state) throw Error(state.error());
  std::vector<domain::Mapping> mappings;
  bool stale = false;
  for (const auto& m : find_mappings(tx, row.integration)) {
    stale = stale || m.stale;
    if (!m.stale) mappings.push_back(m.mapping);
  }
  const auto mapped = domain::map_order(*state, mappings);
  if (mapped.files.empty()) return false;
  std::vector<domain::ItemStatus> before;
  for (const auto& item : find_items(tx, row.id)) before.push_back(item.status);
  const bool changed = Fulfilment(changes).align_items(tx, mapped, row, !stale) != before;
  const auto standing = find_standing(tx, row.account);
  return changed || (standing && row.cloud_account && row.cloud_account != standing->cloud_account);
}

}  // namespace presetbridge::services
