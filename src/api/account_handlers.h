// GET /api/account: the account, who asks, and what they may do. GET /api/account/audit: the audit log
// (spec 7.4).
#pragma once

#include "api/router.h"
#include "services/accounts.h"

namespace presetbridge::api {

struct AccountDeps {
  services::Accounts& accounts;
};
void add_account_routes(Router& router, AccountDeps deps);

}  // namespace presetbridge::api
