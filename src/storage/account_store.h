// Rows of `accounts` as far as identity is concerned: credits and the cloud login have stores of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge::storage {

struct AccountRow {
  AccountId id;
  std::string name;
  Timestamp created_at;
};

void insert_account(Tx& tx, AccountId id, std::string_view name);
std::optional<AccountRow> find_account(Tx& tx, AccountId id);
// Of the whole service, newest first: the operator's list.
Page<AccountRow> list_accounts(Tx& tx, const PageRequest& page);
bool rename_account(Tx& tx, AccountId id, std::string_view name);  // false: there is none

}  // namespace presetbridge::storage
