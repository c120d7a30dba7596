// The operator's commands (spec 12.4): accounts, keys, credits, purchases. This code
// serves the running service, by its admin channel, and a data directory in which no service runs.
#pragma once

#include <boost/json/object.hpp>

#include "app/admin/account_admin.h"
#include "app/admin/key_admin.h"
#include "app/admin/purchase_admin.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "identity/built_in_issuer.h"
#include "services/accounts/api_keys.h"
#include "services/accounts/disabled_accounts.h"
#include "services/credits/credits.h"

namespace presetbridge::app {

// Thread-safe. All outlive it.
class AdminCommands {
 public:
  struct Ports {
    storage::AsyncDatabase& async_db;
    identity::BuiltInIssuer& issuer;  // one that lets accounts be made
    services::Credits& credits;
    services::ApiKeys& keys;
    services::DisabledAccounts& disabled;
    PurchaseAdmin& purchases;
    IdSource& ids;
    KeyAdmin* keys_at_rest = nullptr;  // of the running service
  };
  explicit AdminCommands(Ports ports)
      : ports_(ports), accounts_(ports.async_db, ports.keys, ports.disabled) {}

  // {"command": …} and its arguments, all texts or whole numbers:
  //   create-account email password [name]   -> accountId, userId, email
  //   grant-credits account credits [note]   -> available
  //   reset-password email password          -> email, activeKeys [{id, name, preview, createdAt}]
  //   set-rate-limit key limit               -> id, rateLimit
  //   purchases, reconcile, refund           -> purchase_admin.h
  //   list-accounts, disable-account, enable-account, list-keys, find-order  -> account_admin.h
  //   keys, turn-keys, drop-keys             -> key_admin.h; SERVICE_NOT_RUNNING without one
  // and with each "operator": the user at the machine, as the audit log names them.
  // Errors: VALIDATION_FAILED, and those of the services behind.
  Task<Expected<boost::json::object>> run(Executor& executor, boost::json::object request);

 private:
  Task<Expected<boost::json::object>> create_account(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> grant_credits(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> reset_password(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> set_rate_limit(Executor& executor, boost::json::object request);

  const Ports ports_;
  AccountAdmin accounts_;
};

}  // namespace presetbridge::app
