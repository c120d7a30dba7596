#include "api/handlers/integrations_handlers.h"

#include <algorithm>
#include <set>

#include "api/handlers/mappings_csv_handlers.h"
#include "api/issued_secret.h"
#include "api/json_body.h"
#include "api/mapping_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"
#include "providers/profile.h"
#include "services/stores/refusals.h"
#include "services/webhooks/secret_rotation.h"

namespace presetbridge::api {
namespace {

using services::Integrations;

constexpr TextRule kName{.max = 100};
constexpr TextRule kSecret{.min = 16, .max = 200, .exact = true};
constexpr std::size_t kMaxUsernameFields = 20;
constexpr OverlapRule kOverlap{.usual = Integrations::default_overlap, .most = Integrations::max_overlap};

std::int64_t count_of(const storage::StoreActivity& activity, std::string_view what) {
  const auto found = std::ranges::find(activity.hours, what, &storage::StoreHour::what);
  return found == activity.hours.end() ? 0 : found->events;
}
json::object counts_of(const storage::StoreActivity& activity) {
  return {{"orders24h", count_of(activity, storage::kOrder)},
          {"deliveries", count_of(activity, storage::kDelivery)},
          {"failed", activity.failed},
          {"unmappedProducts", activity.unmapped_products}};
}
json::object intake_of(const services::IntegrationView& view) {
  json::array refused;
  for (const auto& one : services::refusals_of(view.row, view.activity)) {
    refused.push_back(json::object{{"code", one.code},
                                   {"count", one.events},
                                   {"lastAt", to_iso8601(one.last_at)},
                                   {"mendedUntil", time_or_null(one.mended_until)}});
  }
  return {{"accepted24h", count_of(view.activity, storage::kAccepted)},
          {"lastAcceptedAt", time_or_null(services::last_accepted_at(view.activity))},
          {"refused", std::move(refused)}};
}

json::object to_json(const IntegrationsDeps& deps, const services::IntegrationView& view) {
  const auto& row = view.row;
  const auto provider = to_string(row.provider);
  const auto id = to_string(row.id);
  return {
      {"id", id},
      {"name", row.name},
      {"provider", provider},
      {"platform", text_or_null(std::string(providers::profile_of(row.provider).platform))},
      {"webhookUrl", deps.base_url + "/api/webhooks/" + std::string(provider) + "/" + id},
      {"secretPreview", row.secret_preview},
      {"secretSetBy", services::has_entered_secret(row) ? "merchant" : "service"},
      {"secretChangedAt", time_or_null(services::secret_changed_at(row))},
      {"previousSecretExpiresAt", time_or_null(services::end_of_former_secrets(row))},
      {"active", row.active},
      {"owningKeyId", id_or_null(row.owning_key)},
      {"settings",
       json::object{{"requireApiKey", row.require_api_key},
                    {"hold", row.hold_all ? "all" : "none"},
                    {"deliverTestOrders", row.deliver_test_orders},
                    {"autoRevoke", row.auto_revoke},
                    {"usernameFields", json::array(row.username_fields.begin(), row.username_fields.end())}}},
      {"version", row.version},
      {"mappingCount", view.mappings},
      {"lastOrderAt", time_or_null(view.activity.last_order_at)},
      {"topicsSeen", json::array(view.activity.topics.begin(), view.activity.topics.end())},
      {"counts", counts_of(view.activity)},
      {"intake", intake_of(view)},
      {"createdAt", to_iso8601(row.created_at)},
      {"archivedAt", time_or_null(row.archived_at)},
  };
}

json::object to_json(const services::MappingSet& set) {
  json::array mappings;
  mappings.reserve(set.mappings.size());
  for (const auto& [mapping, written, stale, made_for] : set.mappings) {
    mappings.push_back(json::object{{"id", to_string(mapping.id)},
                                    {"matchType", domain::to_string(mapping.type)},
                                    {"matchValue", written},
                                    {"action", domain::to_string(mapping.action)},
                                    {"fileId", mapping.file_id},
                                    {"kind", mapping.file_kind},
                                    {"fileName", mapping.file_name},
                                    {"stale", stale}});
  }
  return {{"version", set.version}, {"mappings", std::move(mappings)}};
}

// `is_new`: a member that is null counts as absent.
services::IntegrationChange read_change(JsonFields& fields, bool is_new) {
  services::IntegrationChange change;
  change.active = fields.optional_flag("active");
  change.owning_key =
      fields.is_null("owningKeyId") ? ApiKeyId{} : fields.optional_id<ApiKeyId>("owningKeyId");
  if (!fields.has("settings")) return change;
  auto settings = fields.object("settings");
  if (!is_new)
    settings.refuse_null({"requireApiKey", "hold", "deliverTestOrders", "autoRevoke", "usernameFields"});
  change.require_api_key = settings.optional_flag("requireApiKey");
  if (const auto hold = settings.optional_choice("hold", {"none", "all"})) change.hold_all = *hold == "all";
  change.deliver_test_orders = settings.optional_flag("deliverTestOrders");
  change.auto_revoke = settings.optional_flag("autoRevoke");
  change.username_fields = settings.optional_texts("usernameFields", kMaxUsernameFields, {.max = 100});
  return change;
}

Task<Reply> create(IntegrationsDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  services::NewIntegration wanted;
  wanted.name = fields.text("name", kName);
  if (const auto* profile = providers::find_profile(fields.choice("provider", providers::path_names())))
    wanted.provider = profile->provider;
  wanted.secret = fields.optional_text("secret", kSecret);
  wanted.settings = read_change(fields, true);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto issued = co_await deps.integrations.create(call.executor(), call.principal, std::move(wanted));
  if (!issued) co_return std::unexpected(issued.error());
  co_return issued_response(201, to_json(deps, issued->integration), issued->secret);
}

Task<Reply> list(IntegrationsDeps deps, Call call) {
  QueryFields fields(call);
  const auto page = fields.page();
  services::IntegrationFilter filter;
  if (const auto name = fields.optional_choice("provider", providers::path_names())) {
    if (const auto* profile = providers::find_profile(*name)) filter.provider = profile->provider;
  }
  filter.active = fields.optional_flag("active");
  filter.archived = fields.optional_flag("archived").value_or(false);
  if (auto error = fields.problems()) co_return std::unexpected(std::move(*error));
  auto found = co_await deps.integrations.list(call.executor(), call.principal, filter, page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, [&](const services::IntegrationView& view) { return to_json(deps, view); });
}

Task<Reply> show(IntegrationsDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto found = co_await deps.integrations.get(call.executor(), call.principal, *id);
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, to_json(deps, *found));
}

Task<Reply> change(IntegrationsDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  fields.refuse_null({"name", "active", "settings"});
  fields.refuse_change("secret", {}, "POST …/rotate-secret replaces it");
  auto wanted = read_change(fields, false);
  wanted.name = fields.optional_text("name", kName);
  if (fields.names_others()) {
    const auto current = co_await deps.integrations.get(call.executor(), call.principal, *id);
    if (!current) co_return std::unexpected(current.error());
    auto shown = to_json(deps, *current);
    for (const auto name : providers::profile_of(current->row.provider).path_names) {
      if (fields.is("provider", name)) shown["provider"] = name;
    }
    fields.refuse_change("provider", shown, "add another store");
    fields.refuse_changes(shown, {"mappingCount", "lastOrderAt", "topicsSeen", "counts", "intake"});
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto changed = co_await deps.integrations.change(call.executor(), call.principal, *id, std::move(wanted));
  if (!changed) co_return std::unexpected(changed.error());
  co_return json_response(200, to_json(deps, *changed));
}

Task<Reply> archive(IntegrationsDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto archived = co_await deps.integrations.archive(call.executor(), call.principal, *id);
  if (!archived) co_return std::unexpected(archived.error());
  co_return no_content();
}

Task<Reply> rotate(IntegrationsDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto wanted = read_secret_rotation(call.request, kSecret, kOverlap);
  if (!wanted) co_return std::unexpected(wanted.error());
  auto issued = co_await deps.integrations.rotate_secret(call.executor(), call.principal, *id,
                                                         std::move(wanted->secret), wanted->overlap);
  if (!issued) co_return std::unexpected(issued.error());
  co_return issued_response(200, to_json(deps, issued->integration), issued->secret);
}

Task<Reply> show_mappings(IntegrationsDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto set = co_await deps.integrations.mappings(call.executor(), call.principal, *id);
  if (!set) co_return std::unexpected(set.error());
  co_return json_response(200, to_json(*set));
}

Task<Reply> replace_mappings(IntegrationsDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  const auto version = fields.optional_integer("version", 1, std::numeric_limits<std::int64_t>::max());
  if (!fields.has("mappings")) fields.problem("mappings", "is required");
  auto wanted = read_mappings(fields, deps.integrations.limits());
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto set = co_await deps.integrations.replace_mappings(call.executor(), call.principal, *id, version,
                                                         std::move(wanted));
  if (!set) co_return std::unexpected(set.error());
  std::vector<std::string> files;
  for (const auto& [mapping, written, stale, made_for] : set->mappings) {
    if (!mapping.file_id.empty()) files.push_back(mapping.file_id);
  }
  auto answer = to_json(*set);
  const auto unknown = co_await deps.presets.unknown(call.executor(), call.principal, std::move(files));
  // Unknown files are reported and not refused: the list of presets may be older than the file.
  if (unknown && !unknown->empty()) {
    const std::set<std::string> unique(unknown->begin(), unknown->end());
    answer["unknownFileIds"] = json::array(unique.begin(), unique.end());
  }
  co_return json_response(200, answer);
}

}  // namespace

void add_integrations_routes(Router& router, const IntegrationsDeps& deps) {
  const auto access = Access::needs(Permission::integrations);
  router.add("GET", "/api/integrations", access, with(deps, list));
  router.add("POST", "/api/integrations", access.after_step_up(), with(deps, create));
  router.add("GET", "/api/integrations/{integration}", access, with(deps, show));
  router.add("PATCH", "/api/integrations/{integration}", access, with(deps, change));
  router.add("DELETE", "/api/integrations/{integration}", access, with(deps, archive));
  router.add("POST", "/api/integrations/{integration}/rotate-secret", access.after_step_up(),
             with(deps, rotate));
  router.add("GET", "/api/integrations/{integration}/mappings", access, with(deps, show_mappings));
  router.add("PUT", "/api/integrations/{integration}/mappings", access, with(deps, replace_mappings));
  add_mappings_csv_routes(router, {deps.integrations});
}

}  // namespace presetbridge::api
