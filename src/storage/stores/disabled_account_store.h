// The accounts that the operator has disabled: one row of the whole service, read by its key, of which each
// node keeps a copy (services/accounts/disabled_accounts.h).
#pragma once

#include <cstddef>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

inline constexpr std::size_t kMostDisabledAccounts = 10'000;

// In rising order.
std::vector<AccountId> disabled_accounts(Tx& tx);
// The same, locked until the transaction ends.
std::vector<AccountId> lock_disabled_accounts(Tx& tx);
// Of those that are locked: in rising order, kMostDisabledAccounts at most.
void put_disabled_accounts(Tx& tx, const std::vector<AccountId>& accounts);

}  // namespace presetbridge::storage
