// GET /api/account: the account, the caller and their permissions; PATCH: the account's name, and what
// buyers see of the merchant. GET /api/account/audit: the audit log (spec 7.4).
#pragma once

#include "api/router.h"
#include "services/accounts/accounts.h"

namespace presetbridge::api {

struct AccountDeps {
  services::Accounts& accounts;
};
void add_account_routes(Router& router, AccountDeps deps);

}  // namespace presetbridge::api
