#include "api/account_handlers.h"

#include "api/page.h"

namespace presetbridge::api {
namespace {

json::value caller_json(const identity::Principal& principal) {
  json::object caller;
  if (principal.person) {
    caller["userId"] = to_string(principal.person->id);
    caller["email"] = principal.person->email;
    caller["role"] = identity::to_string(principal.person->role);
    caller["issuer"] = principal.person->iss;
  }
  if (principal.key) caller["keyId"] = to_string(*principal.key);
  json::array permissions;
  for (const auto name : principal.permissions.names()) permissions.emplace_back(name);
  caller["permissions"] = std::move(permissions);
  json::array integrations;
  for (const auto id : principal.integrations.ids()) integrations.emplace_back(to_string(id));
  caller["integrationIds"] = std::move(integrations);
  return caller;
}

Task<Reply> show(AccountDeps deps, Call call) {
  auto account = co_await deps.accounts.get(call.executor(), call.principal.account);
  if (!account) co_return std::unexpected(account.error());
  co_return json_response(200, json::object{
                                   {"id", to_string(account->id)},
                                   {"name", account->name},
                                   {"createdAt", to_iso8601(account->created_at)},
                                   {"caller", caller_json(call.principal)},
                               });
}

Task<Reply> audit_log(AccountDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  auto rows = co_await deps.accounts.audit_log(call.executor(), call.principal.account, *page);
  if (!rows) co_return std::unexpected(rows.error());
  co_return page_response(*rows, [](const storage::AuditRow& row) {
    return json::object{
        {"at", to_iso8601(row.at)}, {"actor", row.actor},   {"action", row.action},
        {"target", row.target},     {"detail", row.detail},
    };
  });
}

}  // namespace

void add_account_routes(Router& router, AccountDeps deps) {
  router.add("GET", "/api/account", Access::anyone_known(), with(deps, show));
  router.add("GET", "/api/account/audit", Access::needs(Permission::account), with(deps, audit_log));
}

}  // namespace presetbridge::api
