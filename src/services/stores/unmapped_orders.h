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

// Calls `each` for the store's orders that have lines without a mapping, of those that have ended or are
// erased alone not. False: there are more of them than are looked at.
bool each_unmapped_order(storage::Tx& tx, IntegrationId integration,
                         const std::function<void(const storage::OrderRow&, domain::OrderState&)>& each);

}  // namespace presetbridge::services
