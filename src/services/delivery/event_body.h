// The bodies of deliveries' outbound events (spec 10.2): made once, sent and signed as they are.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/delivery_store.h"
#include "storage/item_store.h"

namespace presetbridge::services {

// So many items are told of, the first by their ids; `itemCount` tells how many there are.
inline constexpr std::size_t kMostItemsTold = 100;

// The seed's fields in the seed's order, then what applies: why it failed, in words that can be handed to the
// buyer or to the merchant, and the items. Their names are cut to 200 bytes.
std::string delivery_event_body(std::string_view uuid, domain::EventType type,
                                const storage::DeliveryRow& row,
                                std::span<const storage::ItemRow* const> items, Timestamp now);

}  // namespace presetbridge::services
