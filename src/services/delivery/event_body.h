// The bodies of deliveries' outbound events (spec 10.2): made once, sent and signed as they are.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "domain/delivery.h"
#include "domain/order.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {

// So many items are told of, the first by their ids; `itemCount` tells how many there are.
inline constexpr std::size_t kMostItemsTold = 100;

// The seed's fields in the seed's order, then what applies: why it failed, in words that can be handed to the
// buyer or to the merchant, and the items. Their names are cut to 200 bytes. `buyer_url`: the buyer's link
// (spec 13.3); empty: none is told.
std::string delivery_event_body(std::string_view uuid, domain::EventType type,
                                const storage::DeliveryRow& row,
                                std::span<const storage::ItemRow* const> items, std::string_view buyer_url,
                                Timestamp now);

// Of order.unmapped: the order as it is now, and the first 20 of its lines that have no mapping, with their
// texts cut to 200 bytes.
std::string unmapped_event_body(std::string_view uuid, const storage::OrderRow& order,
                                const domain::OrderState& state, bool dry_run, Timestamp now);

}  // namespace presetbridge::services
