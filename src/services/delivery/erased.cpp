#include "services/delivery/erased.h"

#include "storage/stores/order_list.h"

namespace presetbridge::services {

bool is_erased(storage::Tx& tx, DeliveryId id) {
  const auto marks = find_order_marks(tx, OrderId{id.value});
  return marks && marks->has(domain::OrderMark::erased);
}

std::unexpected<Error> refuse_erased() {
  return fail("INVALID_TRANSITION", "The buyer's personal data was removed: there is nobody to deliver to.");
}

Expected<void> check_not_erased(storage::Tx& tx, DeliveryId id) {
  if (is_erased(tx, id)) return refuse_erased();
  return {};
}

}  // namespace presetbridge::services
