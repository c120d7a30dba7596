#include "api/credentials_handlers.h"

#include "api/cloud_login_body.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "base/characters.h"

namespace presetbridge::api {
namespace {

json::object to_json(const services::CredentialsView& view) {
  json::object body{{"status", to_string(view.status)},
                    {"maskedEmail", text_or_null(view.masked_email)},
                    {"cloudUserId", text_or_null(view.cloud_user_id)},
                    {"cloudUsername", text_or_null(view.cloud_username)},
                    {"unreadable", view.unreadable},
                    {"version", view.version},
                    {"savedAt", time_or_null(view.saved_at)},
                    {"checkedAt", time_or_null(view.checked_at)}};
  if (view.mappings_made_stale > 0) body["mappingsMadeStale"] = view.mappings_made_stale;
  return body;
}
json::object preset_json(const cloud::CloudFile& file) {
  return {{"id", file.id}, {"kind", file.kind}, {"name", file.name}};
}

Task<Reply> show(CredentialsDeps deps, Call call) {
  auto view = co_await deps.vault.get(call.executor(), call.principal);
  if (!view) co_return std::unexpected(view.error());
  co_return json_response(200, to_json(*view));
}

Task<Reply> save(CredentialsDeps deps, Call call) {
  auto login = read_cloud_login(call.request, "");
  if (!login) co_return std::unexpected(login.error());
  auto view = co_await deps.vault.save(call.executor(), call.principal, std::move(login->email),
                                       std::move(login->password));
  if (!view) co_return login_failed(view.error());
  co_return json_response(200, to_json(*view));
}

Task<Reply> remove(CredentialsDeps deps, Call call) {
  auto removed = co_await deps.vault.remove(call.executor(), call.principal);
  if (!removed) co_return std::unexpected(removed.error());
  co_return no_content();
}

Task<Reply> validate(CredentialsDeps deps, Call call) {
  auto view = co_await deps.vault.validate(call.executor(), call.principal);
  if (!view) co_return login_failed(view.error());
  co_return json_response(200, to_json(*view));
}

Task<Reply> log_in(LoginDeps deps, Call call) {
  auto login = read_cloud_login(call.request, "credentials");
  if (!login) co_return std::unexpected(login.error());
  auto opened = co_await deps.logins.login(call.executor(), call.principal, std::move(login->email),
                                           std::move(login->password));
  if (!opened) co_return login_failed(opened.error());
  auto response = json_response(
      200, json::object{{"session", json::object{{"token", opened->token},
                                                 {"expiresAt", to_iso8601(opened->expires_at)}}},
                        {"user", json::object{{"id", opened->user_id}, {"username", opened->username}}}});
  response.headers.add("Cache-Control", "no-store");
  co_return response;
}

std::optional<std::string> session_token(const Call& call) {
  const auto sent = call.request.headers.get("X-Session-Token");
  return sent ? std::optional(std::string(*sent)) : std::nullopt;
}

Task<Reply> list_presets(PresetsDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  services::PresetQuery query;
  query.search = std::string(call.query_value("search").value_or(""));
  query.kind = std::string(call.query_value("kind").value_or(""));
  const auto refresh = call.query_value("refresh").value_or("false");
  std::vector<FieldProblem> problems;
  if (characters(query.search) > 200) problems.push_back({"search", "must have at most 200 characters"});
  if (characters(query.kind) > 40) problems.push_back({"kind", "must have at most 40 characters"});
  if (refresh != "true" && refresh != "false") problems.push_back({"refresh", "must be true or false"});
  if (!problems.empty())
    co_return fail("VALIDATION_FAILED", "The query has parameters that are not valid.", problems);
  // Files have no ids that sort: a cursor is how many came before.
  if (call.query_value("cursor")) query.offset = static_cast<std::size_t>(page->before);
  query.limit = static_cast<std::size_t>(page->limit);
  auto found = co_await deps.presets.list(call.executor(), call.principal, session_token(call),
                                          std::move(query), refresh == "true");
  if (!found) co_return std::unexpected(found.error());
  json::array data;
  for (const auto& file : found->files) data.push_back(preset_json(file));
  std::optional<std::int64_t> next;
  if (found->next) next = static_cast<std::int64_t>(*found->next);
  co_return page_response(std::move(data), next);
}

Task<Reply> show_preset(PresetsDeps deps, Call call) {
  auto found =
      co_await deps.presets.get(call.executor(), call.principal, session_token(call), call.param("preset"));
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, preset_json(*found));
}

}  // namespace

void add_credentials_routes(Router& router, CredentialsDeps deps) {
  const auto people = Access::needs(Permission::account);
  router.add("GET", "/api/credentials", people, with(deps, show));
  router.add("PUT", "/api/credentials", people, with(deps, save));
  router.add("DELETE", "/api/credentials", people, with(deps, remove));
  router.add("POST", "/api/credentials/validate", people, with(deps, validate));
}

void add_login_routes(Router& router, LoginDeps deps) {
  router.add("POST", "/api/auth/login", Access::needs(Permission::login), with(deps, log_in));
}

void add_presets_routes(Router& router, PresetsDeps deps) {
  const auto access = Access::needs(Permission::presets_read);
  router.add("GET", "/api/presets", access, with(deps, list_presets));
  router.add("GET", "/api/presets/{preset}", access, with(deps, show_preset));
}

}  // namespace presetbridge::api
