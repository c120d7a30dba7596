#include "api/handlers/webhook_handlers.h"

#include "providers/profile.h"

namespace presetbridge::api {
namespace {

json::value to_json(const services::Accepted& a) {
  if (!a.delivery) return ignored_json(a);
  json::object body{{"status", domain::to_string(a.status)},
                    {"orderId", a.order_id},
                    {"eventId", a.event_id},
                    {"deliveryId", to_string(*a.delivery)},
                    {"duplicate", a.duplicate}};
  if (a.resolution != domain::ResolutionCode::none) body["resolutionCode"] = domain::to_string(a.resolution);
  return body;
}

// A platform sends the orders of all its merchants from one network, strangers' among them. So an order that
// fails counts against the network's other requests, and no order is refused for it (spec 8.6). The cost of
// a stranger's orders is bounded where stores are looked up (services/stores/integration_directory.h).
Task<Reply> accept_webhook(WebhookDeps deps, Call call) {
  const auto* profile = providers::find_profile(call.param("provider"));
  const auto id = parse_id<IntegrationKind>(call.param("integrationId"));
  Expected<std::optional<services::Accepted>> accepted =
      fail("INTEGRATION_NOT_FOUND", std::string(services::kNoSuchIntegration));
  if (profile != nullptr && id) {
    services::PostedOrder posted{
        .profile = *profile,
        .integration = *id,
        .headers = [&](std::string_view name) { return call.request.headers.all(name); },
        .body = call.request.body};
    if (call.request.body_too_large) posted.body_error = payload_too_large(call.request);
    accepted = co_await deps.reception.receive(call.executor(), std::move(posted));
  }
  auto reply = webhook_reply(accepted);
  const auto status = reply ? reply->status : status_of(reply.error().code).value_or(0);
  if (status == 401 || status == 404) deps.failures.count(call.request);
  co_return reply;
}

}  // namespace

json::object ignored_json(const services::Accepted& a) {
  json::object body{{"status", "ignored"}, {"reason", a.reason}};
  // An event of no order, such as an unknown topic, names none.
  if (!a.order_id.empty()) body["orderId"] = a.order_id;
  if (!a.event_id.empty()) body["eventId"] = a.event_id;
  return body;
}

Reply webhook_reply(const Expected<std::optional<services::Accepted>>& accepted) {
  if (!accepted) return std::unexpected(accepted.error());
  if (!*accepted) return json_response(200, {{"status", "ok"}});
  return json_response(202, to_json(**accepted));
}

void add_webhook_routes(Router& router, const WebhookDeps& deps) {
  router.add("POST", "/api/webhooks/{provider}/{integrationId}", Access::open(), with(deps, accept_webhook));
}

}  // namespace presetbridge::api
