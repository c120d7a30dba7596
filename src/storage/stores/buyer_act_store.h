// What buyers did with the links of their deliveries (spec 13.3).
#pragma once

#include "base/ids.h"
#include "domain/buyer.h"
#include "storage/database.h"

namespace presetbridge::storage {

// None yet: zeros. Who writes it after has locked the delivery.
domain::BuyerActs find_buyer_acts(Tx& tx, DeliveryId delivery);
void put_buyer_acts(Tx& tx, AccountId account, DeliveryId delivery, const domain::BuyerActs& acts);

}  // namespace presetbridge::storage
