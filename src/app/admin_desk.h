// What the operator does from the command line (spec 12.4): accounts, keys, credits. The same code serves the
// running service, which is asked over its admin channel, and a data directory in which nobody is at work.
#pragma once

#include <boost/json/object.hpp>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "identity/built_in_issuer.h"
#include "services/api_keys.h"
#include "services/credits.h"

namespace presetbridge::app {

// Thread-safe. All outlive it.
class AdminDesk {
 public:
  struct Ports {
    storage::GroupCommit& commits;
    identity::BuiltInIssuer& issuer;  // one that lets accounts be made
    services::Credits& credits;
    services::ApiKeys& keys;
  };
  explicit AdminDesk(Ports ports) : ports_(ports) {}

  // {"command": …} and its arguments, all texts or whole numbers:
  //   create-account email password [name]   -> accountId, userId, email
  //   list-accounts [cursor]                 -> accounts [{id, name, createdAt, credits}], nextCursor
  //   grant-credits account credits [note]   -> available
  //   reset-password email password          -> email
  //   set-rate-limit key limit               -> id, rateLimit
  // Errors: VALIDATION_FAILED, and those of the services behind.
  Task<Expected<boost::json::object>> run(Executor& executor, boost::json::object request);

 private:
  Task<Expected<boost::json::object>> create_account(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> list_accounts(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> grant_credits(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> reset_password(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> set_rate_limit(Executor& executor, boost::json::object request);

  const Ports ports_;
};

}  // namespace presetbridge::app
