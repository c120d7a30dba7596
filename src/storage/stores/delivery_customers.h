// The customers of deliveries, whose rows are locked before those of the deliveries (docs/architecture.md).
#pragma once

#include <span>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::storage {

// The customers of the deliveries, those of their usernames, which may be other rows (aliases), and those
// that got or may have got a file of them; each once.
std::vector<CustomerId> customers_of(Tx& tx, std::span<const DeliveryId> ids);
// Locks, by rising id and without reading the rows, the deliveries' customers, those that the deliveries
// would have with their accounts' present logins, those that got or may have got a file of them, and those
// of the buyers that have a row. For callers that have not come to a delivery by its customer, which is
// locked before it (docs/architecture.md).
void hold_customers_of(Tx& tx, std::span<const DeliveryId> ids, std::span<const Buyer> buyers = {});
// The customers of this cloud account whose jobs work for the deliveries, each once, by rising id: the
// deliveries' own, and those with whom a share of them is to be settled.
std::vector<CustomerId> customers_of(Tx& tx, CloudAccountId cloud_account, std::span<const DeliveryId> ids);

// The customers of these names at the cloud users whose logins the accounts have now.
struct NameAtAccount {
  AccountId account;
  std::string_view username;
};
std::vector<CustomerId> customers_named(Tx& tx, std::span<const NameAtAccount> names);

}  // namespace presetbridge::storage
