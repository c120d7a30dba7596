#include "api/handlers/credentials_handlers.h"

#include <algorithm>

#include "api/cloud_login_body.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"

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

json::value to_json(const std::optional<services::FriendsView>& view) {
  if (!view) return nullptr;
  const auto& counts = view->counts;
  return json::object{{"requested", counts.requested}, {"friends", counts.friends},
                      {"declined", counts.declined},   {"blocked", counts.blocked},
                      {"countIsExact", counts.exact},  {"lastSweepAt", time_or_null(view->last_sweep_at)}};
}

Task<Reply> show(CredentialsDeps deps, Call call) {
  QueryFields fields(call);
  const bool friends = fields.optional_flag("friends").value_or(false);
  if (auto error = fields.problems()) co_return std::unexpected(std::move(*error));
  auto view = co_await deps.vault.get(call.executor(), call.principal);
  if (!view) co_return std::unexpected(view.error());
  auto body = to_json(*view);
  if (friends) {
    const auto counted = co_await deps.vault.friends(call.executor(), call.principal);
    if (!counted) co_return std::unexpected(counted.error());
    body["friends"] = to_json(*counted);
  }
  co_return json_response(200, body);
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

json::object use_json(const services::PresetUse& use) {
  return {{"integrationId", to_string(use.store)},
          {"integrationName", use.store_name},
          {"matchType", use.match_type},
          {"matchValue", use.match_value},
          {"stale", use.stale}};
}

// The JSON of presets, with the service's data on them that the caller may read.
Task<Expected<std::vector<json::object>>> with_usage(PresetsDeps& deps, const Call& call,
                                                     std::vector<cloud::CloudFile> files, bool gone,
                                                     const std::optional<services::MappedPresets>& mapped) {
  std::vector<std::string> ids;
  for (const auto& file : files) ids.push_back(file.id);
  const auto counts = co_await deps.uses.deliveries(call.executor(), call.principal, std::move(ids));
  if (!counts) co_return std::unexpected(counts.error());
  std::vector<json::object> bodies;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto body = preset_json(files[i]);
    body["gone"] = gone;
    if (mapped) {
      const auto use = mapped->find(files[i].id);
      body["usedBy"] = use == mapped->end() ? 0 : use->second.used_by;
    }
    if (*counts) body["deliveredCount"] = (**counts)[i];
    bodies.push_back(std::move(body));
  }
  co_return bodies;
}

// Files that mappings deliver but the cloud user does not have, by name. Call it after presets.list().
Task<Expected<services::PresetPage>> gone_presets(PresetsDeps& deps, const Call& call,
                                                  const services::PresetQuery& query,
                                                  const services::MappedPresets& mapped) {
  std::vector<std::string> ids;
  for (const auto& [id, preset] : mapped) ids.push_back(id);
  auto unknown = co_await deps.presets.unknown(call.executor(), call.principal, std::move(ids));
  if (!unknown) co_return std::unexpected(unknown.error());
  std::vector<cloud::CloudFile> files;
  for (auto& id : *unknown) {
    const auto& preset = mapped.find(id)->second;
    files.push_back({.id = std::move(id), .kind = preset.kind, .name = preset.name});
  }
  std::ranges::sort(files, {}, &cloud::CloudFile::name);
  co_return services::page_of(files, query);
}

Task<Reply> list_presets(PresetsDeps deps, Call call) {
  QueryFields fields(call);
  const auto page = fields.page();
  services::PresetQuery query;
  query.search = fields.text("search", 200);
  query.kind = fields.text("kind", 40);
  const bool refresh = fields.optional_flag("refresh").value_or(false);
  const bool gone = fields.optional_flag("gone").value_or(false);
  const bool usage = fields.optional_flag("usage").value_or(false) || gone;
  if (gone && session_token(call)) fields.problem("gone", "is of the stored login, without X-Session-Token");
  if (auto error = fields.problems()) co_return std::unexpected(std::move(*error));
  // Ids of files have no order: a cursor is the number of files before the page.
  if (call.query_value("cursor")) query.offset = static_cast<std::size_t>(page.before);
  query.limit = static_cast<std::size_t>(page.limit);
  auto found =
      co_await deps.presets.list(call.executor(), call.principal, session_token(call), query, refresh);
  if (!found) co_return std::unexpected(found.error());
  json::array data;
  if (usage) {
    const auto mapped = co_await deps.uses.mapped(call.executor(), call.principal);
    if (!mapped) co_return std::unexpected(mapped.error());
    if (gone) {
      found = co_await gone_presets(deps, call, query, mapped->value_or(services::MappedPresets()));
      if (!found) co_return std::unexpected(found.error());
    }
    auto bodies = co_await with_usage(deps, call, std::move(found->files), gone, *mapped);
    if (!bodies) co_return std::unexpected(bodies.error());
    for (auto& body : *bodies) data.push_back(std::move(body));
  } else {
    for (const auto& file : found->files) data.push_back(preset_json(file));
  }
  std::optional<std::int64_t> next;
  if (found->next) next = static_cast<std::int64_t>(*found->next);
  co_return page_response(std::move(data), next);
}

Task<Reply> show_preset(PresetsDeps deps, Call call) {
  QueryFields fields(call);
  const bool usage = fields.optional_flag("usage").value_or(false);
  if (auto error = fields.problems()) co_return std::unexpected(std::move(*error));
  const std::string id = call.param("preset");
  auto found = co_await deps.presets.get(call.executor(), call.principal, session_token(call), id);
  if (!usage) {
    if (!found) co_return std::unexpected(found.error());
    co_return json_response(200, preset_json(*found));
  }
  if (!found && found.error().code != "NOT_FOUND") co_return std::unexpected(found.error());
  const auto mapped = co_await deps.uses.mapped(call.executor(), call.principal);
  if (!mapped) co_return std::unexpected(mapped.error());
  const services::MappedPreset* preset = nullptr;
  if (*mapped) {
    if (const auto use = (*mapped)->find(id); use != (*mapped)->end()) preset = &use->second;
  }
  if (!found && preset == nullptr) co_return std::unexpected(found.error());
  auto file = found ? *found : cloud::CloudFile{.id = id, .kind = preset->kind, .name = preset->name};
  auto bodies = co_await with_usage(deps, call, {std::move(file)}, !found, *mapped);
  if (!bodies) co_return std::unexpected(bodies.error());
  auto body = std::move(bodies->front());
  if (*mapped) {
    json::array uses;
    if (preset != nullptr) {
      for (const auto& use : preset->uses) uses.push_back(use_json(use));
    }
    body["uses"] = std::move(uses);
  }
  co_return json_response(200, std::move(body));
}

}  // namespace

void add_credentials_routes(Router& router, CredentialsDeps deps) {
  const auto people = Access::needs(Permission::account);
  const auto owners = Access::needs(Permission::owner);
  router.add("GET", "/api/credentials", people, with(deps, show));
  router.add("PUT", "/api/credentials", owners.after_step_up(), with(deps, save));
  router.add("DELETE", "/api/credentials", owners.after_step_up(), with(deps, remove));
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
