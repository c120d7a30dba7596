// The customers of deliveries, whose rows are locked before those of the deliveries (docs/architecture.md).
#pragma once

#include <span>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::storage {

// The customers of the deliveries, those of their usernames, who may be other rows (aliases), and those who
// got or may have got a file of them; each once.
std::vector<CustomerId> customers_of(Tx& tx, std::span<const DeliveryId> ids);
// Locks, by rising id and without reading the rows, the deliveries' customers, those that the deliveries
// would have by their account's login now, those who got or may have got a file of them, and the buyers that
// are known: for whoever comes to a delivery by another way than its customer, which is locked before it
// (docs/architecture.md).
void hold_customers_of(Tx& tx, std::span<const DeliveryId> ids, std::span<const Buyer> buyers = {});
// Whose jobs of this cloud account work for the deliveries, each once, by rising id: their customers, and
// those with whom a share of them is to be settled.
std::vector<CustomerId> customers_of(Tx& tx, CloudAccountId cloud_account, std::span<const DeliveryId> ids);

}  // namespace presetbridge::storage
