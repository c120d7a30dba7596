// The customers of deliveries, whose rows are locked before those of the deliveries (docs/architecture.md).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::storage {

// The customers of the deliveries, those of their usernames, which may be other rows (aliases), and those
// that got or may have got a file of them; each once. `sent_names` (empty, or one for each delivery): the names
// that the store sent, whose customers count too where a delivery has another name since.
std::vector<CustomerId> customers_of(Tx& tx, std::span<const DeliveryId> ids,
                                     std::span<const std::string_view> sent_names = {});
// Locks, by rising id and without reading the rows, the deliveries' customers, those that the deliveries
// would have with their accounts' present logins, those that got or may have got a file of them, and those
// of the buyers that have a row. For callers that have not come to a delivery by its customer, which is
// locked before it (docs/architecture.md).
void hold_customers_of(Tx& tx, std::span<const DeliveryId> ids, std::span<const Buyer> buyers = {});
// The customers of this cloud account whose jobs work for the deliveries, each once, by rising id: the
// deliveries' own, and those with whom a share of them is to be settled.
std::vector<CustomerId> customers_of(Tx& tx, CloudAccountId cloud_account, std::span<const DeliveryId> ids);

}  // namespace presetbridge::storage
