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
  // What buyers see of the merchant; each may be empty.
  std::string display_name = {};
  std::string support_email = {};
  std::string support_url = {};
};

void insert_account(Tx& tx, AccountId id, std::string_view name);
std::optional<AccountRow> find_account(Tx& tx, AccountId id);
// Of the whole service, newest first: the operator's list.
Page<AccountRow> list_accounts(Tx& tx, const PageRequest& page);
// Writes the name and what buyers see.
void update_account(Tx& tx, const AccountRow& row);

}  // namespace presetbridge::storage
