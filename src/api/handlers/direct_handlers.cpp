#include "api/handlers/direct_handlers.h"

#include <algorithm>
#include <utility>

#include "api/json_body.h"
#include "providers/profile.h"

namespace presetbridge::api {
namespace {

using domain::OrderEvent;
using domain::OrderLine;

// The order in the body, as a webhook would bring it; its problems are reported with those of the other
// fields.
OrderEvent read_order(const DirectDeps& deps, const Call& call, JsonFields& fields) {
  auto order = providers::parse(
      providers::profile_of(domain::Provider::generic),
      {.body = call.request.body, .topic = {}, .limits = deps.reception.limits(), .file_ids = true});
  if (order) return std::move(*order);
  for (auto& [field, problem] : order.error().details) fields.problem(field, std::move(problem));
  if (order.error().details.empty()) fields.problem("body", order.error().message);
  return {};
}

bool names_files(const OrderEvent& order) {
  return std::ranges::any_of(order.lines, [](const OrderLine& line) { return !line.file_id.empty(); });
}

Task<Reply> create(DirectDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  const auto id = fields.optional_id<IntegrationId>("integrationId");
  if (!fields.has("integrationId")) fields.problem("integrationId", "is required");
  auto order = read_order(deps, call, fields);
  // Members that are not known count for nothing, as on the webhook.
  if (auto error = body->problems_of_known()) co_return std::unexpected(*error);
  const auto& by = call.principal;
  if (names_files(order) && !by.may(Permission::deliveries_any_file))
    co_return std::unexpected(forbidden("An item with a fileId needs the permission deliveries:any_file."));
  const auto accepted = co_await deps.reception.place(
      call.executor(), {.by = by, .integration = *id, .event = std::move(order), .body = call.request.body});
  if (!accepted) co_return std::unexpected(accepted.error());
  if (!accepted->delivery) co_return json_response(202, ignored_json(*accepted));
  const auto view = co_await deps.deliveries.deliveries.get(call.executor(), by, *accepted->delivery);
  if (!view) co_return std::unexpected(view.error());
  co_return json_response(accepted->made_delivery ? 201 : 200, delivery_json(deps.deliveries, *view));
}

}  // namespace

void add_direct_routes(Router& router, const DirectDeps& deps) {
  router.add("POST", "/api/deliveries", Access::needs(Permission::deliveries_write), with(deps, create));
}

}  // namespace presetbridge::api
