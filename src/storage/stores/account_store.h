// Rows of `accounts` as far as identity is concerned. credit_store.h has the credits, credential_store.h
// the cloud login.
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
  // Shown to buyers; each may be empty.
  std::string display_name = {};
  std::string support_email = {};
  std::string support_url = {};
};

void insert_account(Tx& tx, AccountId id, std::string_view name);
std::optional<AccountRow> find_account(Tx& tx, AccountId id);
// Whether the account's data were deleted (storage/stores/account_deletion.h).
bool is_deleted(Tx& tx, AccountId id);
// All accounts of the service, newest first, for the operator.
Page<AccountRow> list_accounts(Tx& tx, const PageRequest& page);
// Writes the name and the three members that buyers see.
void update_account(Tx& tx, const AccountRow& row);

}  // namespace presetbridge::storage
