#include "api/handlers/keys_handlers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/issued_secret.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"

namespace presetbridge::api {
namespace {

constexpr TextRule kName{.max = 100};
constexpr std::size_t kMaxScope = 100;
constexpr std::int64_t kMaxOverlapSeconds = services::ApiKeys::max_rotation_overlap.count() / 1000;

std::optional<identity::PermissionSet> read_permissions(JsonFields& fields) {
  const auto names = fields.optional_texts("permissions", 20, {.max = 40, .exact = true});
  if (!names) return std::nullopt;
  identity::PermissionSet set;
  for (std::size_t i = 0; i < names->size(); ++i) {
    if (const auto permission = identity::parse_permission((*names)[i])) {
      set.add(*permission);
    } else {
      fields.problem(fmt::format("permissions[{}]", i),
                     fmt::format("must be one of {}", fmt::join(identity::kPermissionNames, ", ")));
    }
  }
  if (names->empty()) fields.problem("permissions", "must name at least one permission");
  return set;
}

std::optional<identity::IntegrationScope> read_scope(JsonFields& fields) {
  auto ids = fields.optional_ids<IntegrationId>("integrationIds", kMaxScope);
  if (!ids) return std::nullopt;
  return identity::IntegrationScope(std::move(*ids));
}

Task<Reply> create(KeysDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  services::NewApiKey wanted;
  wanted.name = fields.text("name", kName);
  wanted.permissions = read_permissions(fields).value_or(identity::kDefaultPermissions);
  wanted.integrations = read_scope(fields).value_or(identity::IntegrationScope());
  wanted.expires_at = fields.optional_time("expiresAt");
  fields.refuse("rateLimit", "whoever runs the service raises it");
  fields.refuse("active", "a new key is active; change that then");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto issued = co_await deps.keys.create(call.executor(), call.principal, std::move(wanted));
  if (!issued) co_return std::unexpected(issued.error());
  co_return issued_response(201, key_json(issued->key), issued->secret);
}

Task<Reply> list(KeysDeps deps, Call call) {
  QueryFields fields(call);
  const auto page = fields.page();
  const auto active = fields.optional_flag("active");
  if (auto error = fields.problems()) co_return std::unexpected(std::move(*error));
  auto keys = co_await deps.keys.list(call.executor(), call.principal, page, active);
  if (!keys) co_return std::unexpected(keys.error());
  co_return page_response(*keys, key_json);
}

Task<Reply> show(KeysDeps deps, Call call) {
  const auto id = call.id<ApiKeyId>("key");
  if (!id) co_return std::unexpected(id.error());
  auto key = co_await deps.keys.get(call.executor(), call.principal, *id);
  if (!key) co_return std::unexpected(key.error());
  co_return json_response(200, key_json(*key));
}

Task<Reply> change(KeysDeps deps, Call call) {
  const auto id = call.id<ApiKeyId>("key");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  fields.refuse_null({"name", "active", "permissions", "integrationIds"});
  fields.refuse_change("secret", {}, "POST …/rotate makes another key");
  services::ApiKeyChange wanted;
  wanted.name = fields.optional_text("name", kName);
  wanted.active = fields.optional_flag("active");
  wanted.permissions = read_permissions(fields);
  wanted.integrations = read_scope(fields);
  if (fields.names_others()) {
    const auto current = co_await deps.keys.get(call.executor(), call.principal, *id);
    if (!current) co_return std::unexpected(current.error());
    const auto shown = key_json(*current);
    fields.refuse_change("expiresAt", shown,
                         "it is set when a key is made; make another key, and deactivate this one");
    fields.refuse_change("rateLimit", shown, "whoever runs the service raises it");
    fields.refuse_changes(shown, {"lastActiveAt", "requests", "deliveries", "usedThisHour"});
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto key = co_await deps.keys.change(call.executor(), call.principal, *id, std::move(wanted));
  if (!key) co_return std::unexpected(key.error());
  co_return json_response(200, key_json(*key));
}

Task<Reply> rotate(KeysDeps deps, Call call) {
  const auto id = call.id<ApiKeyId>("key");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse_optional(call.request);
  if (!body) co_return std::unexpected(body.error());
  const auto overlap = (*body)->optional_integer("overlapSeconds", 0, kMaxOverlapSeconds).value_or(0);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto issued =
      co_await deps.keys.rotate(call.executor(), call.principal, *id, std::chrono::seconds{overlap});
  if (!issued) co_return std::unexpected(issued.error());
  co_return issued_response(201, key_json(issued->key), issued->secret);
}

}  // namespace

json::object key_json(const services::ApiKey& key) {
  json::array permissions;
  for (const auto name : key.permissions.names()) permissions.emplace_back(name);
  json::array integrations;
  for (const auto id : key.integrations.ids()) integrations.emplace_back(to_string(id));
  return {
      {"id", to_string(key.id)},
      {"name", key.name},
      {"preview", key.preview},
      {"active", key.active},
      {"permissions", std::move(permissions)},
      {"integrationIds", std::move(integrations)},
      {"rateLimit", key.rate_limit},
      {"createdAt", to_iso8601(key.created_at)},
      {"expiresAt", time_or_null(key.expires_at)},
      {"lastActiveAt", time_or_null(key.last_active_at)},
      {"rotatedFrom", id_or_null(key.rotated_from.value_or(ApiKeyId{}))},
      {"requests", key.requests},
      {"deliveries", key.deliveries},
      {"usedThisHour", key.used_this_hour},
  };
}

void add_keys_routes(Router& router, KeysDeps deps) {
  const auto people = Access::needs(Permission::account);
  const auto owners = Access::needs(Permission::owner);
  router.add("POST", "/api/keys", owners.after_step_up(), with(deps, create));
  router.add("GET", "/api/keys", people, with(deps, list));
  router.add("GET", "/api/keys/{key}", people, with(deps, show));
  router.add("PATCH", "/api/keys/{key}", owners, with(deps, change));
  router.add("POST", "/api/keys/{key}/rotate", owners.after_step_up(), with(deps, rotate));
  router.refuse("DELETE", "/api/keys/{key}",
                "API keys are never deleted, so that their history stays. Deactivate it: PATCH with "
                "\"active\": false.");
}

}  // namespace presetbridge::api
