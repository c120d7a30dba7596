// The bodies of deliveries' outbound events (spec 10.2). They are made once, and sent and signed as they are.
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

// The items that a body lists at most, the first by their ids; `itemCount` is the number of all.
inline constexpr std::size_t kMostEventItems = 100;

// Returns the body of a delivery's event: the seed's fields in the seed's order, then further ones that
// apply. These are the reason of a failure, in words that can be handed to the buyer or to the merchant, and
// the items, with names cut to 200 bytes. `buyer_url`: the buyer's link (spec 13.3); empty: the body has
// none.
std::string delivery_event_body(std::string_view uuid, domain::EventType type,
                                const storage::DeliveryRow& row,
                                std::span<const storage::ItemRow* const> items, std::string_view buyer_url,
                                Timestamp now);

// Returns the body of order.unmapped: the order as it is now, and the first 20 of its lines that have no
// mapping, with their texts cut to 200 bytes.
std::string unmapped_event_body(std::string_view uuid, const storage::OrderRow& order,
                                const domain::OrderState& state, bool dry_run, Timestamp now);

}  // namespace presetbridge::services
