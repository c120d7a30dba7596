// The accounts that the operator has disabled: one row of the whole service, read by its key. Each node has
// a copy of it in memory (services/accounts/disabled_accounts.h).
#pragma once

#include <cstddef>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

inline constexpr std::size_t kMostDisabledAccounts = 10'000;

// In rising order.
std::vector<AccountId> disabled_accounts(Tx& tx);
// In rising order; locks the row until the transaction ends.
std::vector<AccountId> lock_disabled_accounts(Tx& tx);
// Replaces the list, which lock_disabled_accounts() has locked. `accounts` are in rising order, at most
// kMostDisabledAccounts.
void put_disabled_accounts(Tx& tx, const std::vector<AccountId>& accounts);

}  // namespace presetbridge::storage
