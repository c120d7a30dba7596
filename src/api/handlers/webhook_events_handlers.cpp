#include "api/handlers/webhook_events_handlers.h"

#include <algorithm>
#include <array>
#include <string>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"
#include "domain/delivery.h"
#include "services/dispatcher/webhook_headers.h"

namespace presetbridge::api {
namespace {

using storage::SentEventFilter;
using storage::SentEventRow;

constexpr std::array<std::string_view, 4> kStatuses = {"succeeded", "waiting", "exhausted", "permanent"};
constexpr std::size_t kLongestOrder = 255;  // longer ones are not accepted from stores

std::string_view name_of(storage::SentStatus status) {
  return kStatuses[static_cast<std::size_t>(status)];
}

json::object event_json(const SentEventRow& row) {
  const bool waits = row.status == storage::SentStatus::waiting && !row.under_way;
  return {{"id", row.uuid},
          {"type", row.type},
          {"createdAt", to_iso8601(row.created_at)},
          {"deliveryId", id_or_null(row.delivery)},
          {"orderId", text_or_null(row.order_key)},
          {"orderNumber", text_or_null(row.order_number)},
          {"status", name_of(row.status)},
          {"attemptCount", row.attempts},
          {"nextAttemptAt", waits ? json::value(to_iso8601(row.due_at)) : json::value()},
          {"lastAttemptAt", time_or_null(row.last_attempt_at)},
          {"lastStatusCode", number_or_null(row.last_status_code)},
          {"lastOutcome", text_or_null(row.last_outcome)}};
}

json::object view_json(const services::SentEventView& view) {
  auto body = event_json(view.row);
  json::array attempts;
  for (const auto& attempt : view.attempts) {
    attempts.push_back(json::object{{"id", to_string(attempt.id)},
                                    {"at", to_iso8601(attempt.at)},
                                    {"statusCode", number_or_null(attempt.status_code)},
                                    {"durationMs", attempt.duration_ms},
                                    {"outcome", attempt.outcome},
                                    {"contentType", text_or_null(attempt.content_type)},
                                    {"answer", attempt.answer}});
  }
  body["attempts"] = std::move(attempts);
  body["body"] = view.body;
  json::object headers;
  const auto& last = view.row.last_attempt_at;
  for (auto& [name, value] : services::webhook_headers(view.row.type, view.row.uuid, last)) {
    headers[name] = std::move(value);
  }
  body["headers"] = std::move(headers);
  return body;
}

SentEventFilter read_filter(QueryFields& fields) {
  SentEventFilter filter;
  if (const auto status = fields.optional_choice("status", kStatuses)) {
    const auto found = std::ranges::find(kStatuses, *status);
    if (found != kStatuses.end()) filter.status = static_cast<storage::SentStatus>(found - kStatuses.begin());
  }
  filter.type = fields.optional_choice("type", domain::kEventTypeNames).value_or("");
  filter.delivery = fields.optional_id<DeliveryId>("deliveryId").value_or(DeliveryId{});
  filter.order = fields.optional_text("order", kLongestOrder).value_or("");
  filter.from = fields.optional_time("createdFrom");
  filter.to = fields.optional_time("createdTo");
  return filter;
}

Task<Reply> list(WebhookEventsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  QueryFields fields(call);
  const auto page = fields.page();
  auto filter = read_filter(fields);
  if (auto error = fields.problems()) co_return std::unexpected(std::move(*error));
  auto found = co_await deps.events.list(call.executor(), call.principal, *id, std::move(filter), page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, event_json);
}

Task<Reply> show(WebhookEventsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  auto found = co_await deps.events.get(call.executor(), call.principal, *id, call.param("event"));
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, view_json(*found));
}

Task<Reply> resend(WebhookEventsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  if (const auto wait = take(deps.dispatches, call); wait > Millis{0}) co_return too_often(wait);
  auto sent = co_await deps.events.resend(call.executor(), call.principal, *id, call.param("event"));
  if (!sent) co_return std::unexpected(sent.error());
  co_return json_response(202, event_json(*sent));
}

Task<Reply> recover(WebhookEventsDeps deps, Call call) {
  const auto id = call.id<SubscriptionId>("subscription");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  const auto since = fields.optional_time("since");
  if (!fields.has("since")) fields.problem("since", "is required");
  const bool dry_run = fields.optional_flag("dryRun").value_or(false);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto begun = dry_run
                         ? co_await deps.events.plan_recovery(call.executor(), call.principal, *id, *since)
                         : co_await deps.events.recover(call.executor(), call.principal, *id, *since);
  if (!begun) co_return std::unexpected(begun.error());
  co_return json_response(dry_run ? 200 : 202,
                          json::object{{"total", begun->total}, {"totalIsExact", begun->exact}});
}

}  // namespace

void add_webhook_events_routes(Router& router, WebhookEventsDeps deps) {
  const auto access = Access::needs(Permission::subscriptions);
  const std::string events = "/api/webhook-subscriptions/{subscription}/events";
  router.add("GET", events, access, with(deps, list));
  router.add("GET", events + "/{event}", access, with(deps, show));
  router.add("POST", events + "/{event}/resend", access, with(deps, resend));
  router.add("POST", "/api/webhook-subscriptions/{subscription}/recover", access, with(deps, recover));
}

}  // namespace presetbridge::api
