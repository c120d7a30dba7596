#include "api/handlers/orders_handlers.h"

#include <array>

#include "api/handlers/bulk_handlers.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"
#include "domain/order_summary.h"

namespace presetbridge::api {
namespace {

using domain::kOrderOutcomeNames;
using domain::OrderMark;
using domain::parse_order_outcome;
using services::OrderInList;
using services::OrderView;

constexpr std::size_t kLongestSearch = 255;

// The summary of an OrderInList or an OrderView.
template <class Shown>
json::object summary_json(const Shown& shown) {
  const auto& order = shown.order;
  const auto& delivery = shown.delivery;
  const auto& s = order.summary;
  json::value delivery_id = nullptr;
  json::value status = nullptr;
  json::value code = nullptr;
  json::value username = nullptr;
  json::value dry_run = nullptr;
  if (delivery) {
    delivery_id = to_string(DeliveryId{order.id.value});
    status = domain::to_string(delivery->status);
    code = text_or_null(std::string(domain::to_string(delivery->resolution)));
    username = text_or_null(delivery->username);
    dry_run = delivery->dry_run;
  }
  return {{"id", to_string(order.id)},
          {"integrationId", to_string(order.integration)},
          {"integrationName", shown.integration_name},
          {"orderId", order.order_key},
          {"orderNumber", text_or_null(s.number)},
          {"eventId", services::order_event_id(order.integration, order.order_key)},
          {"outcome", to_string(order.outcome)},
          {"reason", domain::outcome_in_words(order.outcome, order.unmapped, s)},
          {"lineCount", s.lines},
          {"unmappedCount", order.unmapped},
          {"targetUsername", text_or_null(s.username)},
          {"customerEmail", text_or_null(s.email)},
          {"deliveryId", std::move(delivery_id)},
          {"deliveryStatus", std::move(status)},
          {"resolutionCode", std::move(code)},
          {"deliveryUsername", std::move(username)},
          {"dryRun", std::move(dry_run)},
          {"test", s.marks.has(OrderMark::test)},
          {"refunded", s.marks.has(OrderMark::refunded)},
          {"refundedInPart", s.marks.has(OrderMark::refunded_in_part)},
          {"cancelled", s.marks.has(OrderMark::cancelled)},
          {"erased", s.marks.has(OrderMark::erased)},
          {"receivedAt", to_iso8601(order.received_at)},
          {"updatedAt", to_iso8601(order.updated_at)}};
}

std::string_view result_of(domain::OrderLine::Mapped mapped) {
  using Mapped = domain::OrderLine::Mapped;
  switch (mapped) {
    case Mapped::not_yet:
      return "not_mapped_yet";
    case Mapped::owes:
      return "delivers";
    case Mapped::ignored:
      return "ignored";
    case Mapped::nothing:
      return "unmapped";
    case Mapped::earlier:
      return "unknown";
  }
  return "unknown";
}

json::object line_json(const services::OrderLineView& view) {
  const auto& line = view.line;
  json::array mappings;
  for (const auto id : view.mappings) mappings.push_back(json::string(to_string(id)));
  json::array files;
  for (const auto& item : view.files) {
    files.push_back(json::object{{"itemId", to_string(item.id)},
                                 {"fileId", item.file_id},
                                 {"kind", item.kind},
                                 {"name", item.name},
                                 {"status", domain::to_string(services::reported_status(item))}});
  }
  return {{"lineId", line.line_id},
          {"title", text_or_null(line.title)},
          {"sku", text_or_null(line.sku)},
          {"productId", text_or_null(line.product_id)},
          {"variantId", text_or_null(line.variant_id)},
          {"fileId", text_or_null(line.file_id)},
          {"quantity", line.quantity},
          {"refundedQuantity", view.refunded},
          {"result", result_of(line.mapped)},
          {"matchedBy",
           view.matched_by ? json::value(domain::to_string(*view.matched_by)) : json::value(nullptr)},
          {"mappingIds", std::move(mappings)},
          {"files", std::move(files)},
          {"fileCount", view.file_count}};
}

Task<Reply> list(OrdersDeps deps, Call call) {
  QueryFields fields(call);
  services::OrderQuery query{.unmapped = fields.optional_flag("unmapped").value_or(false),
                             .page = fields.page()};
  query.outcome = fields.optional_choice("outcome", kOrderOutcomeNames).and_then(parse_order_outcome);
  query.integration = fields.optional_id<IntegrationId>("integrationId").value_or(IntegrationId{});
  query.search = fields.optional_search("q", kLongestSearch).value_or("");
  query.received_from = fields.optional_time("receivedFrom");
  query.received_before = fields.optional_time("receivedTo");
  if (auto error = fields.problems()) co_return std::unexpected(*error);
  const auto found = co_await deps.orders.list(call.executor(), call.principal, std::move(query));
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, [](const OrderInList& row) { return summary_json(row); });
}

Task<Reply> show(OrdersDeps deps, Call call) {
  const auto id = call.id<OrderId>("order");
  if (!id) co_return std::unexpected(id.error());
  const auto view = co_await deps.orders.get(call.executor(), call.principal, *id);
  if (!view) co_return std::unexpected(view.error());
  co_return json_response(200, order_json(deps, *view));
}

Task<Reply> payload(OrdersDeps deps, Call call) {
  const auto id = call.id<OrderId>("order");
  if (!id) co_return std::unexpected(id.error());
  const auto stored = co_await deps.orders.payload(call.executor(), call.principal, *id);
  if (!stored) co_return std::unexpected(stored.error());
  co_return json_response(
      200, json::object{{"id", to_string(*id)},
                        {"receivedAt", to_iso8601(stored->received_at)},
                        {"keptUntil", to_iso8601(stored->received_at + deps.payload_retention)},
                        {"body", stored->body}});
}

Task<Reply> reprocess(OrdersDeps deps, Call call) {
  const auto id = call.id<OrderId>("order");
  if (!id) co_return std::unexpected(id.error());
  const auto view = co_await deps.orders.reprocess(call.executor(), call.principal, *id);
  if (!view) co_return std::unexpected(view.error());
  co_return json_response(200, order_json(deps, *view));
}

Task<Reply> reprocess_all(OrdersDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  services::OrderQuery query;
  fields.refuse_null({"outcome", "integrationId", "q", "receivedFrom", "receivedTo"},
                     "leave it out where it filters nothing");
  query.outcome = fields.optional_choice("outcome", {kOrderOutcomeNames.begin(), kOrderOutcomeNames.end()})
                      .and_then(parse_order_outcome);
  query.integration = fields.optional_id<IntegrationId>("integrationId").value_or(IntegrationId{});
  query.search = fields.optional_search("q", kLongestSearch).value_or("");
  query.received_from = fields.optional_time("receivedFrom");
  query.received_before = fields.optional_time("receivedTo");
  // An order that was delivered whole is processed again only if somebody says so: today's mappings may send
  // it more files.
  query.unmapped = fields.optional_flag("unmapped").value_or(!query.outcome);
  const bool dry_run = fields.optional_flag("dryRun").value_or(false);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto plan = co_await deps.bulk.ask(call.executor(), call.principal, std::move(query), dry_run);
  if (!plan) co_return std::unexpected(plan.error());
  if (dry_run)
    co_return json_response(200,
                            json::object{{"total", plan->count.orders}, {"totalIsExact", plan->count.exact}});
  co_return json_response(202, bulk_json(plan->job));
}

}  // namespace

json::object order_json(const OrdersDeps& deps, const services::OrderView& view) {
  auto body = summary_json(view);
  json::array lines;
  for (const auto& line : view.lines) lines.push_back(line_json(line));
  body["lines"] = std::move(lines);
  body["allowedActions"] = json::array();
  if (view.reprocessable) body["allowedActions"].as_array().push_back("reprocess");
  body["payloadKeptUntil"] = nullptr;
  if (view.payload_received_at)
    body["payloadKeptUntil"] = to_iso8601(*view.payload_received_at + deps.payload_retention);
  return body;
}

void add_orders_routes(Router& router, OrdersDeps deps) {
  const auto read = Access::needs(Permission::deliveries_read);
  const auto write = Access::needs(Permission::deliveries_write);
  router.add("GET", "/api/orders", read, with(deps, list));
  router.add("GET", "/api/orders/{order}", read, with(deps, show));
  router.add("GET", "/api/orders/{order}/payload", read, with(deps, payload));
  router.add("POST", "/api/orders/reprocess", write, with(deps, reprocess_all));
  router.add("POST", "/api/orders/{order}/reprocess", write, with(deps, reprocess));
}

}  // namespace presetbridge::api
