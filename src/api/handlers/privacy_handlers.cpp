#include "api/handlers/privacy_handlers.h"

#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"

namespace presetbridge::api {
namespace {

json::object to_json(const storage::PrivacyRequestRow& row) {
  return {{"id", to_string(row.id)},
          {"integrationId", to_string(row.integration)},
          {"kind", to_string(row.kind)},
          {"orderCount", row.orders},
          {"receivedAt", to_iso8601(row.received_at)},
          {"carriedOutAt", time_or_null(row.carried_out_at)},
          {"closedAt", time_or_null(row.closed_at)},
          {"closedBy", text_or_null(row.closed_by)}};
}

Task<Reply> list(PrivacyDeps deps, Call call) {
  QueryFields fields(call);
  const auto page = fields.page();
  const bool open = fields.optional_flag("open").value_or(false);
  if (auto error = fields.problems()) co_return std::unexpected(*error);
  const auto found = co_await deps.inbox.list(call.executor(), call.principal, open, page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, to_json);
}

json::object named_order_json(const storage::OrderNamed& named) {
  json::value delivery = nullptr;
  if (named.delivered) delivery = to_string(DeliveryId{named.order.value});
  return {{"orderId", named.order_key},
          {"id", id_or_null(named.order)},
          {"orderNumber", text_or_null(named.order_number)},
          {"deliveryId", std::move(delivery)}};
}

Task<Reply> orders(PrivacyDeps deps, Call call) {
  const auto id = call.id<PrivacyRequestId>("privacyRequest");
  if (!id) co_return std::unexpected(id.error());
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  const auto found = co_await deps.inbox.orders(call.executor(), call.principal, *id, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, named_order_json);
}

Task<Reply> close(PrivacyDeps deps, Call call) {
  const auto id = call.id<PrivacyRequestId>("privacyRequest");
  if (!id) co_return std::unexpected(id.error());
  const auto closed = co_await deps.inbox.close(call.executor(), call.principal, *id);
  if (!closed) co_return std::unexpected(closed.error());
  co_return json_response(200, to_json(*closed));
}

}  // namespace

void add_privacy_routes(Router& router, PrivacyDeps deps) {
  router.add("GET", "/api/privacy-requests", Access::needs(Permission::deliveries_read), with(deps, list));
  router.add("GET", "/api/privacy-requests/{privacyRequest}/orders",
             Access::needs(Permission::deliveries_read), with(deps, orders));
  router.add("POST", "/api/privacy-requests/{privacyRequest}/close",
             Access::needs(Permission::deliveries_write), with(deps, close));
}

}  // namespace presetbridge::api
