// Stored orders of which a later mapping would serve more (spec 2.10): found without a scan of the others,
// the newest first, and so many at most.
#pragma once

#include <cstddef>
#include <functional>

#include "domain/order.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {

inline constexpr int kMostUnmappedOrders = 1'000;
inline constexpr std::size_t kMostUnmappedBytes = 8 << 20;  // of their states

// Calls `each` for the store's orders that have lines without a mapping, but not for those that no mapping
// serves: they have ended, are erased or too large to be read, or a person invalidated their delivery. False:
// there are more orders with such lines than are read.
bool each_unmapped_order(storage::Tx& tx, IntegrationId integration,
                         const std::function<void(const storage::OrderRow&, domain::OrderState&)>& each);

}  // namespace presetbridge::services
