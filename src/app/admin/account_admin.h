// The operator's commands about accounts (spec 12.4): list them, their keys and orders, and disable them.
#pragma once

#include <boost/json/object.hpp>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "services/accounts/api_keys.h"
#include "services/accounts/disabled_accounts.h"
#include "storage/commit/async_database.h"

namespace presetbridge::app {

// Thread-safe.
class AccountAdmin {
 public:
  // All outlive this.
  AccountAdmin(storage::AsyncDatabase& async_db, services::ApiKeys& keys,
               services::DisabledAccounts& disabled)
      : async_db_(async_db), keys_(keys), disabled_(disabled) {}

  // Arguments as of AdminCommands::run():
  //   list-accounts [cursor]             -> accounts [{id, name, createdAt, credits, disabled}], nextCursor
  //   disable-account account [reason]   -> id, disabled, changed
  //   enable-account account             -> id, disabled, changed
  //   list-keys account [cursor]         -> keys [{…}], nextCursor
  //   find-order order [account]         -> orders [{…}]: 20 at most, the newest; by ord_… or del_… in all
  //     accounts, else in that one by number, store's order id, username or e-mail address. The buyer is not
  //     returned.
  // Errors: NOT_FOUND, VALIDATION_FAILED, and those of the services behind.
  Task<Expected<boost::json::object>> list(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> disable(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> enable(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> list_keys(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> find_order(Executor& executor, boost::json::object request);

 private:
  storage::AsyncDatabase& async_db_;
  services::ApiKeys& keys_;
  services::DisabledAccounts& disabled_;
};

}  // namespace presetbridge::app
