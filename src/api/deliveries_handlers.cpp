#include "api/deliveries_handlers.h"

#include <fmt/format.h>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "domain/resolution.h"
#include "domain/username.h"

namespace presetbridge::api {
namespace {

using services::DeliverySummary;
using services::DeliveryView;

constexpr std::size_t kLongestOrderId = 255;  // longer ones are not accepted from stores
constexpr std::string_view kQueryInvalid = "The query has parameters that are not valid.";

json::object summary_json(const DeliverySummary& summary) {
  const auto& row = summary.row;
  json::value resolution = nullptr;
  if (row.resolution != domain::ResolutionCode::none) {
    const auto& text = domain::describe(row.resolution);
    resolution = json::object{
        {"title", text.title}, {"whatHappened", text.what_happened}, {"whatToDo", text.what_to_do}};
  }
  const auto review_reason = row.review_reasons.gravest();
  return {
      {"id", to_string(row.id)},
      {"accountId", to_string(row.account)},
      {"integrationId", to_string(row.integration)},
      {"orderId", row.order_key},
      {"orderNumber", text_or_null(summary.order_number)},
      {"eventId", services::order_event_id(row.integration, row.order_key)},
      {"status", domain::to_string(row.status)},
      {"resolutionCode", text_or_null(std::string(domain::to_string(row.resolution)))},
      {"resolution", std::move(resolution)},
      {"message", row.message},
      {"reason", text_or_null(row.reason)},
      {"reviewReason", review_reason ? json::value(domain::to_string(*review_reason)) : json::value()},
      {"pendingAction", text_or_null(std::string(domain::to_string(row.pending.kind)))},
      {"targetUsername", text_or_null(row.username)},
      {"rawUsername", text_or_null(row.raw_username)},
      {"customerEmail", text_or_null(row.email)},
      {"cloudAccountId", id_or_null(row.cloud_account)},
      {"customerId", id_or_null(row.customer)},
      {"refunded", row.refunded},
      {"cancelled", row.cancelled},
      {"attemptCount", row.attempt_count},
      {"nextAttemptAt", time_or_null(row.next_attempt_at)},
      {"createdAt", to_iso8601(row.created_at)},
      {"updatedAt", to_iso8601(row.updated_at)},
      {"completedAt", time_or_null(row.completed_at)},
      {"dryRun", row.dry_run},
      {"sequence", row.sequence},
  };
}

json::object view_json(const DeliveryView& view) {
  auto body = summary_json(view);
  json::array items;
  for (const auto& item : view.items) {
    items.push_back(
        json::object{{"id", to_string(item.id)},
                     {"fileId", item.file_id},
                     {"kind", item.kind},
                     {"name", item.name},
                     {"matchedBy", item.matched_by},
                     {"quantity", item.quantity},
                     {"status", domain::to_string(item.status)},
                     {"sharedAt", view.row.dry_run ? json::value() : time_or_null(item.shared_at)},
                     {"username", text_or_null(item.username)},
                     {"former", item.former},
                     {"dryRun", view.row.dry_run}});
  }
  body["items"] = std::move(items);
  body["queuePosition"] = nullptr;
  if (view.queue_position) body["queuePosition"] = *view.queue_position;
  body["estimatedAt"] = time_or_null(view.estimated_at);
  json::array timeline;
  for (const auto& entry : view.timeline) {
    timeline.push_back(json::object{{"at", to_iso8601(entry.at)},
                                    {"kind", entry.kind},
                                    {"actor", entry.actor},
                                    {"status", entry.status},
                                    {"resolutionCode", text_or_null(entry.resolution)},
                                    {"message", entry.message}});
  }
  body["timeline"] = std::move(timeline);
  return body;
}

// Done, or stored for the job that has the delivery (spec 3.3).
Reply answer(const Expected<DeliveryView>& view) {
  if (!view) return std::unexpected(view.error());
  return json_response(view->pending ? 202 : 200, view_json(*view));
}

Task<Reply> list(DeliveriesDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  std::vector<FieldProblem> problems;
  services::DeliveryQuery query;
  query.status = std::string(call.query_value("status").value_or(""));
  if (!query.status.empty() && !domain::parse_delivery_status(query.status)) {
    problems.push_back({"status", "is not a status of deliveries"});
  }
  query.resolution = std::string(call.query_value("resolutionCode").value_or(""));
  if (!query.resolution.empty() && !domain::parse_resolution_code(query.resolution)) {
    problems.push_back({"resolutionCode", "is not a resolution code"});
  }
  if (const auto text = call.query_value("integrationId")) {
    const auto id = parse_id<IntegrationKind>(*text);
    if (!id) problems.push_back({"integrationId", "is not a valid id int_…"});
    query.integration = id.value_or(IntegrationId{});
  }
  query.order_key = std::string(call.query_value("orderId").value_or(""));
  if (query.order_key.size() > kLongestOrderId)
    problems.push_back({"orderId", fmt::format("must be at most {} bytes long", kLongestOrderId)});
  if (!problems.empty()) co_return fail("VALIDATION_FAILED", std::string(kQueryInvalid), problems);
  query.page = *page;
  const auto found = co_await deps.deliveries.list(call.executor(), call.principal, std::move(query));
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, summary_json);
}

Task<Reply> show(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  auto view = co_await deps.deliveries.get(call.executor(), call.principal, *id);
  if (!view) co_return std::unexpected(view.error());
  co_return json_response(200, view_json(*view));
}

Task<Reply> retry(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  std::optional<std::string> username;
  auto body = JsonBody::parse_optional(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  if (const auto raw = fields.optional_text("targetUsername", {.max = 1'000})) {
    username = domain::normalise_username(*raw);
    if (username->empty()) fields.problem("targetUsername", "is not a username");
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  co_return answer(co_await deps.deliveries.retry(call.executor(), call.principal, *id, std::move(username)));
}

Task<Reply> invalidate(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto reason = (*body)->text("reason", {.max = 500, .lines = true});
  if (auto error = body->problems()) co_return std::unexpected(*error);
  co_return answer(
      co_await deps.deliveries.invalidate(call.executor(), call.principal, *id, std::move(reason)));
}

Task<Reply> reopen(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  co_return answer(co_await deps.deliveries.reopen(call.executor(), call.principal, *id));
}

Task<Reply> approve(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  co_return answer(co_await deps.deliveries.approve(call.executor(), call.principal, *id));
}

Task<Reply> complete(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  co_return answer(co_await deps.deliveries.complete(call.executor(), call.principal, *id));
}

Task<Reply> revoke(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse_optional(call.request);
  if (!body) co_return std::unexpected(body.error());
  services::RevokeQuery which;
  auto& fields = **body;
  if (auto items = fields.optional_ids<ItemId>("itemIds", 500)) {
    which.items = std::move(*items);
    if (which.items.empty()) fields.problem("itemIds", "names no item");
  }
  if (const auto raw = fields.optional_text("username", {.max = 1'000})) {
    which.username = domain::normalise_username(*raw);
    if (which.username.empty()) fields.problem("username", "is not a username");
  }
  if (!which.items.empty() && !which.username.empty())
    fields.problem("username", "goes without itemIds: they name the items already");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto view = co_await deps.deliveries.revoke(call.executor(), call.principal, *id, std::move(which));
  if (!view) co_return std::unexpected(view.error());
  // The platform is asked later (spec 3.10).
  co_return json_response(202, view_json(*view));
}

}  // namespace

void add_deliveries_routes(Router& router, DeliveriesDeps deps) {
  const auto read = Access::needs(Permission::deliveries_read);
  const auto write = Access::needs(Permission::deliveries_write);
  router.add("GET", "/api/deliveries", read, with(deps, list));
  router.add("GET", "/api/deliveries/{delivery}", read, with(deps, show));
  router.add("POST", "/api/deliveries/{delivery}/retry", write, with(deps, retry));
  router.add("POST", "/api/deliveries/{delivery}/invalidate", write, with(deps, invalidate));
  router.add("POST", "/api/deliveries/{delivery}/reopen", write, with(deps, reopen));
  router.add("POST", "/api/deliveries/{delivery}/approve", write, with(deps, approve));
  router.add("POST", "/api/deliveries/{delivery}/complete", write, with(deps, complete));
  router.add("POST", "/api/deliveries/{delivery}/revoke", write, with(deps, revoke));
}

}  // namespace presetbridge::api
