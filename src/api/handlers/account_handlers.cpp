#include "api/handlers/account_handlers.h"

#include <algorithm>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"
#include "identity/built_in_issuer.h"

namespace presetbridge::api {
namespace {

constexpr std::string_view kAuditPrefix = "aud";

// The account, and whether the caller has confirmed their e-mail address.
struct Seen {
  storage::AccountRow account;
  std::optional<bool> email_verified;
};

json::value caller_json(const identity::Principal& principal, std::optional<bool> email_verified) {
  json::object caller;
  if (principal.person) {
    caller["userId"] = to_string(principal.person->id);
    caller["email"] = principal.person->email;
    caller["emailVerified"] = email_verified ? json::value(*email_verified) : json::value(nullptr);
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

json::object account_json(const Seen& seen, const identity::Principal& principal) {
  const auto& account = seen.account;
  return {{"id", to_string(account.id)},
          {"name", account.name},
          {"displayName", text_or_null(account.display_name)},
          {"supportEmail", text_or_null(account.support_email)},
          {"supportUrl", text_or_null(account.support_url)},
          {"createdAt", to_iso8601(account.created_at)},
          {"caller", caller_json(principal, seen.email_verified)}};
}

Task<Expected<Seen>> seen_by(AccountDeps deps, Executor& executor, identity::Principal by,
                             Expected<storage::AccountRow> account) {
  if (!account) co_return std::unexpected(account.error());
  const auto verified = co_await deps.accounts.email_verified(executor, std::move(by));
  if (!verified) co_return std::unexpected(verified.error());
  co_return Seen{std::move(*account), *verified};
}

Task<Reply> show(AccountDeps deps, Call call) {
  auto account = co_await deps.accounts.get(call.executor(), call.principal.account);
  const auto seen = co_await seen_by(deps, call.executor(), call.principal, std::move(account));
  if (!seen) co_return std::unexpected(seen.error());
  co_return json_response(200, account_json(*seen, call.principal));
}

// Null takes it away.
std::optional<std::string> text_or_none(JsonFields& fields, std::string_view name, TextRule rule) {
  auto text = fields.optional_text(name, rule);
  return fields.is_null(name) ? std::optional<std::string>("") : std::move(text);
}

// Buyers are shown it as a link: what it is must be plain.
bool is_https_url(std::string_view text) {
  constexpr std::string_view scheme = "https://";
  return text.starts_with(scheme) && text.size() > scheme.size() && std::ranges::all_of(text, [](char c) {
           return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>';
         });
}

Task<Reply> change(AccountDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  fields.refuse_null({"name"});
  services::Accounts::Change wanted{.name = fields.optional_text("name", {.max = 100}),
                                    .display_name = text_or_none(fields, "displayName", {.max = 100}),
                                    .support_email = text_or_none(fields, "supportEmail", {.max = 254}),
                                    .support_url = text_or_none(fields, "supportUrl", {.max = 500})};
  if (const auto& email = wanted.support_email;
      email && !email->empty() && !identity::looks_like_email(*email))
    fields.problem("supportEmail", "is not an e-mail address");
  if (const auto& url = wanted.support_url; url && !url->empty() && !is_https_url(*url))
    fields.problem("supportUrl", "is not an https:// address");
  if (fields.names_others()) {
    const auto current = co_await deps.accounts.get(call.executor(), call.principal.account);
    if (!current) co_return std::unexpected(current.error());
    fields.refuse_changes(account_json({*current, std::nullopt}, call.principal), {"caller"});
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto changed = co_await deps.accounts.change(call.executor(), call.principal, std::move(wanted));
  const auto seen = co_await seen_by(deps, call.executor(), call.principal, std::move(changed));
  if (!seen) co_return std::unexpected(seen.error());
  co_return json_response(200, account_json(*seen, call.principal));
}

json::value changes_or_null(const std::string& changes) {
  std::error_code error;
  auto parsed = json::parse(changes, error);
  return !error && parsed.is_array() ? parsed : json::value(nullptr);
}

json::object audit_json(const storage::AuditRow& row) {
  return {{"id", format_id(kAuditPrefix, row.id)},
          {"at", to_iso8601(row.at)},
          {"actor", row.actor},
          {"actorName", text_or_null(row.actor_name)},
          {"action", row.action},
          {"target", row.target},
          {"detail", row.detail},
          {"changes", changes_or_null(row.changes)},
          {"network", text_or_null(row.network)},
          {"requestId", text_or_null(row.request_id)}};
}

Task<Reply> audit_log(AccountDeps deps, Call call) {
  QueryFields fields(call);
  const auto page = fields.page();
  const storage::AuditFilter filter{.actor = fields.optional_text("actor", 40).value_or(""),
                                    .action = fields.optional_text("action", 60).value_or(""),
                                    .target = fields.optional_text("target", 60).value_or(""),
                                    .from = fields.optional_time("from"),
                                    .to = fields.optional_time("to")};
  if (auto error = fields.problems()) co_return std::unexpected(*error);
  auto rows = co_await deps.accounts.audit_log(call.executor(), call.principal.account, filter, page);
  if (!rows) co_return std::unexpected(rows.error());
  co_return page_response(*rows, audit_json);
}

}  // namespace

void add_account_routes(Router& router, AccountDeps deps) {
  router.add("GET", "/api/account", Access::anyone_known(), with(deps, show));
  router.add("PATCH", "/api/account", Access::needs(Permission::owner), with(deps, change));
  router.add("GET", "/api/account/audit", Access::needs(Permission::owner), with(deps, audit_log));
}

}  // namespace presetbridge::api
