// The acts of buyers who have the links of their deliveries (spec 13.3).
#pragma once

#include "base/ids.h"
#include "domain/buyer.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Returns zeros for a delivery without acts. A caller that changes them with put_buyer_acts() locks the delivery
// first.
domain::BuyerActs find_buyer_acts(Tx& tx, DeliveryId delivery);
void put_buyer_acts(Tx& tx, AccountId account, DeliveryId delivery, const domain::BuyerActs& acts);

}  // namespace presetbridge::storage
