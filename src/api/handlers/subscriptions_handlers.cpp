#include "api/handlers/subscriptions_handlers.h"

#include "api/issued_secret.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "services/webhooks/secret_rotation.h"

namespace presetbridge::api {
namespace {

using services::Subscriptions;

constexpr TextRule kName{.min = 0, .max = 100};
constexpr TextRule kUrl{.max = 2'000};
constexpr TextRule kSecret{.max = 200, .exact = true};
constexpr std::size_t kMaxEventTypes = 20;
constexpr std::size_t kMaxScope = 100;
constexpr OverlapRule kOverlap{.usual = Subscriptions::default_overlap, .most = Subscriptions::max_overlap};

std::string_view health_of(const services::SubscriptionView& view) {
  const auto& [row, health] = view;
  if (row.deactivated_reason == storage::kReceiverGone) return "gone";
  if (row.deactivated_reason == storage::kTurnedOff) return "off";
  if (!row.active) return "deactivated";
  if (!health.last_attempt_at) return "unused";
  return health.failures_in_a_row == 0 ? "healthy" : "failing";
}

json::object to_json(const services::SubscriptionView& view) {
  const auto& [row, health] = view;
  json::array integrations;
  for (const auto id : row.integrations) integrations.emplace_back(to_string(id));
  json::array recent;
  for (const auto& attempt : health.recent)
    recent.push_back(
        json::object{{"statusCode", number_or_null(attempt.status_code)}, {"outcome", attempt.outcome}});
  return {
      {"id", to_string(row.id)},
      {"name", row.name},
      {"url", row.url},
      {"eventTypes", json::array(row.event_types.begin(), row.event_types.end())},
      {"integrationIds", std::move(integrations)},
      {"active", row.active},
      {"deactivatedReason", text_or_null(row.deactivated_reason)},
      {"previousSecretExpiresAt", time_or_null(services::end_of_former_secrets(row))},
      {"createdAt", to_iso8601(row.created_at)},
      {"health", health_of(view)},
      {"failingSince", time_or_null(row.failing_since)},
      {"failuresInARow", health.failures_in_a_row},
      {"lastAttemptAt", time_or_null(health.last_attempt_at)},
      {"lastStatusCode", number_or_null(health.last_status_code)},
      {"lastOutcome", text_or_null(health.last_outcome)},
      {"lastSuccessAt", time_or_null(health.last_success_at)},
      {"recent", std::move(recent)},
      {"p50Ms", number_or_null(health.p50_ms)},
      {"waitingCount", health.waiting_count.value_or(storage::SubscriptionHealth::waiting_counted)},
      {"waitingCountIsExact", health.waiting_count.has_value()},
  };
}

json::object attempt_json(const storage::AttemptRow& row) {
  return {
      {"id", to_string(row.id)},
      {"eventId", row.event_uuid},
      {"eventType", row.event_type},
      {"deliveryId", id_or_null(row.delivery)},
      {"at", to_iso8601(row.at)},
      {"statusCode", number_or_null(row.status_code)},
      {"durationMs", row.duration_ms},
      {"outcome", row.outcome},
      {"contentType", text_or_null(row.content_type)},
      {"answer", row.answer},
  };
}

Task<Reply> create(SubscriptionsDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  services::NewSubscription wanted;
  wanted.name = fields.optional_text("name", kName).value_or("");
  wanted.url = fields.text("url", kUrl);
  wanted.secret = fields.optional_text("secret", kSecret);
  wanted.event_types = fields.optional_texts("eventTypes", kMaxEventTypes, {.max = 60, .exact = true})
                           .value_or(std::vector<std::string>());
  wanted.integrations =
      fields.optional_ids<IntegrationId>("integrationIds", kMaxScope).value_or(std::vector<IntegrationId>());
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto issued = co_await deps.subscriptions.create(call.executor(), call.principal, std::move(wanted));
  if (!issued) co_return std::unexpected(issued.error());
  co_return issued_response(201, to_json(issued->subscription), issued->secret);
}

Task<Reply> list(SubscriptionsDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  auto found = co_await deps.subscriptions.list(call.executor(), call.principal, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, [](const services::SubscriptionView& view) { return to_json(view); });
}

Task<Reply> show(SubscriptionsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  auto found = co_await deps.subscriptions.get(call.executor(), call.principal, *id);
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, to_json(*found));
}

Task<Reply> change(SubscriptionsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  fields.refuse_null({"name", "url", "eventTypes", "integrationIds", "active"});
  fields.refuse_change("secret", {}, "POST …/rotate-secret replaces it");
  services::SubscriptionChange wanted;
  wanted.name = fields.optional_text("name", kName);
  wanted.url = fields.optional_text("url", kUrl);
  wanted.event_types = fields.optional_texts("eventTypes", kMaxEventTypes, {.max = 60, .exact = true});
  wanted.integrations = fields.optional_ids<IntegrationId>("integrationIds", kMaxScope);
  wanted.active = fields.optional_flag("active");
  if (fields.names_others()) {
    const auto current = co_await deps.subscriptions.get(call.executor(), call.principal, *id);
    if (!current) co_return std::unexpected(current.error());
    fields.refuse_changes(to_json(*current), {"health", "failingSince", "failuresInARow", "lastAttemptAt",
                                              "lastStatusCode", "lastOutcome", "lastSuccessAt", "recent",
                                              "p50Ms", "waitingCount", "waitingCountIsExact"});
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto changed = co_await deps.subscriptions.change(call.executor(), call.principal, *id, std::move(wanted));
  if (!changed) co_return std::unexpected(changed.error());
  co_return json_response(200, to_json(*changed));
}

Task<Reply> remove(SubscriptionsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  auto removed = co_await deps.subscriptions.remove(call.executor(), call.principal, *id);
  if (!removed) co_return std::unexpected(removed.error());
  co_return no_content();
}

Task<Reply> rotate(SubscriptionsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  auto wanted = read_secret_rotation(call.request, kSecret, kOverlap);
  if (!wanted) co_return std::unexpected(wanted.error());
  auto issued = co_await deps.subscriptions.rotate_secret(call.executor(), call.principal, *id,
                                                          std::move(wanted->secret), wanted->overlap);
  if (!issued) co_return std::unexpected(issued.error());
  co_return issued_response(200, to_json(issued->subscription), issued->secret);
}

Task<Reply> test(SubscriptionsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  if (const auto wait = take(deps.dispatches, call); wait > Millis{0}) co_return too_often(wait);
  auto queued = co_await deps.subscriptions.test(call.executor(), call.principal, *id);
  if (!queued) co_return std::unexpected(queued.error());
  co_return json_response(202, json::object{{"eventId", *queued}});
}

Task<Reply> attempts(SubscriptionsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  auto found = co_await deps.subscriptions.attempts(call.executor(), call.principal, *id, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, attempt_json);
}

}  // namespace

void add_subscriptions_routes(Router& router, SubscriptionsDeps deps) {
  const auto access = Access::needs(Permission::subscriptions);
  router.add("GET", "/api/webhook-subscriptions", access, with(deps, list));
  router.add("POST", "/api/webhook-subscriptions", access.after_step_up(), with(deps, create));
  router.add("GET", "/api/webhook-subscriptions/{subscription}", access, with(deps, show));
  router.add("PATCH", "/api/webhook-subscriptions/{subscription}", access, with(deps, change));
  router.add("DELETE", "/api/webhook-subscriptions/{subscription}", access, with(deps, remove));
  router.add("POST", "/api/webhook-subscriptions/{subscription}/rotate-secret", access.after_step_up(),
             with(deps, rotate));
  router.add("POST", "/api/webhook-subscriptions/{subscription}/test", access, with(deps, test));
  router.add("GET", "/api/webhook-subscriptions/{subscription}/attempts", access, with(deps, attempts));
}

}  // namespace presetbridge::api
