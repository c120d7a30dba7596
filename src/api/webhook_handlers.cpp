#include "api/webhook_handlers.h"

#include "providers/profile.h"
#include "providers/verify.h"
#include "services/api_keys.h"
#include "services/intake/payload.h"

namespace presetbridge::api {
namespace {

// An integration that changes while its order is being accepted is read again this often, then the store is
// asked to come back.
constexpr int kMaxReads = 3;

Error integration_not_found() {
  return {"INTEGRATION_NOT_FOUND", "There is no such integration for this provider.", {}};
}

providers::HeaderValues values_of(const net::Headers& headers) {
  return [&headers](std::string_view name) { return headers.all(name); };
}

// spec 2.4: optional, unless the integration asks for it; when present it must be good, of this account, and
// in scope.
Task<Expected<ApiKeyId>> check_key(WebhookDeps deps, Executor& executor, std::optional<std::string> key,
                                   std::shared_ptr<const services::IntegrationSnapshot> integration) {
  if (!key) {
    if (integration->require_api_key) {
      co_return fail("UNAUTHORIZED", "This integration asks for an API key in the X-API-Key header.");
    }
    co_return integration->owning_key;
  }
  auto principal = co_await deps.commits.read(
      executor, [key](storage::Tx& tx) { return services::ApiKeys::check(tx, *key); });
  if (!principal) co_return std::unexpected(principal.error());
  if (principal->account != integration->account || !principal->sees(integration->id)) {
    co_return fail("FORBIDDEN", "The API key is not for this integration.");
  }
  co_return *principal->key;
}

json::value to_json(const services::Accepted& a) {
  if (!a.delivery) {
    json::object body{{"status", "ignored"}, {"reason", a.reason}};
    // An event of no order, such as an unknown topic, names none.
    if (!a.order_id.empty()) body["orderId"] = a.order_id;
    if (!a.event_id.empty()) body["eventId"] = a.event_id;
    return body;
  }
  json::object body{{"status", domain::to_string(a.status)},
                    {"orderId", a.order_id},
                    {"eventId", a.event_id},
                    {"deliveryId", to_string(*a.delivery)},
                    {"duplicate", a.duplicate}};
  if (a.resolution != domain::ResolutionCode::none) body["resolutionCode"] = domain::to_string(a.resolution);
  return body;
}

}  // namespace

// spec 2.3 is the order of what follows.
Task<Reply> accept_order(const WebhookDeps& deps, const Call& call, OrderFrom from, IntegrationId& store) {
  const auto& request = call.request;
  const auto* profile = providers::find_profile(call.param("provider"));
  const auto id = parse_id<IntegrationKind>(call.param("integrationId"));
  if (profile == nullptr || !id) co_return std::unexpected(integration_not_found());

  for (int read = 0; read < kMaxReads; ++read) {
    auto integration = co_await deps.integrations.find(call.executor(), *id);
    if (!integration) co_return std::unexpected(integration.error());
    if (!*integration || (*integration)->provider != profile->provider) {
      co_return std::unexpected(integration_not_found());
    }
    store = *id;
    if (request.body_too_large) co_return std::unexpected(payload_too_large(request));
    const auto headers = values_of(request.headers);
    if (providers::is_unsigned_ping(*profile, request.body)) co_return json_response(200, {{"status", "ok"}});

    const auto verify = [&](const services::IntegrationSnapshot& copy) {
      return providers::verify(*profile, headers, request.body, copy.secrets(deps.clock.now()));
    };
    auto verified = verify(**integration);
    if (!verified) {
      // Another node may have changed the secret a moment ago.
      auto newer =
          co_await deps.integrations.find(call.executor(), *id, services::IntegrationDirectory::kDoubted);
      if (newer && *newer && *newer != *integration) {
        integration = std::move(newer);
        verified = verify(**integration);
      }
    }
    if (!verified) {
      deps.metrics.count("presetbridge_webhooks_refused_total", {{"reason", "signature"}});
      co_return std::unexpected(verified.error());
    }
    std::optional<std::string> key_text;
    if (const auto sent = request.headers.get("x-api-key")) key_text = std::string(*sent);
    Expected<ApiKeyId> key = (*integration)->owning_key;
    if (from == OrderFrom::store) key = co_await check_key(deps, call.executor(), key_text, *integration);
    if (!key) co_return std::unexpected(key.error());

    const auto topic = providers::first_header(profile->topic_headers, headers);
    auto event =
        providers::parse(*profile, {.body = request.body,
                                    .topic = topic,
                                    .test = providers::first_header(profile->test_headers, headers) == "true",
                                    .username_fields = (*integration)->username_fields,
                                    .limits = deps.limits});
    if (!event) {
      deps.metrics.count("presetbridge_webhooks_refused_total", {{"reason", "payload"}});
      co_return std::unexpected(event.error());
    }
    event->received_at = deps.clock.now();
    if (from == OrderFrom::merchant) event->sample = event->test = true;
    auto payload = services::compress_payload(request.body);
    if (!payload) co_return std::unexpected(payload.error());
    if (!deps.store) co_return json_response(202, {{"status", "queued"}, {"orderId", event->order_id}});

    const bool counted = deps.tally != nullptr && from == OrderFrom::store;
    const auto seen = counted ? services::seen(*event, topic) : services::SeenEvent{};
    const auto copy = *integration;
    auto accepted = co_await deps.intake.accept(
        call.executor(), {std::move(*integration), std::move(*event), std::move(*payload), *key});
    if (!accepted) co_return std::unexpected(accepted.error());
    if (accepted->stale_integration) {
      deps.integrations.forget(*id);
      continue;
    }
    deps.metrics.count("presetbridge_orders_accepted_total", {{"kind", accepted->duplicate  ? "duplicate"
                                                                       : accepted->delivery ? "delivery"
                                                                                            : "ignored"}});
    if (counted) deps.tally->accepted(copy, seen, *accepted);
    co_return json_response(202, to_json(*accepted));
  }
  co_return fail("OVERLOADED", "The integration is being changed; send the order again.");
}

namespace {

// A platform sends the orders of all its merchants from one network, strangers' among them: what failed is
// counted against the network's other requests, and no order is refused for it (spec 8.6). What a stranger's
// orders cost is bounded where stores are looked up (services/intake/integration_directory.h).
Task<Reply> accept_webhook(WebhookDeps deps, Call call) {
  IntegrationId store;
  auto reply = co_await accept_order(deps, call, OrderFrom::store, store);
  if (!reply && store && deps.tally != nullptr) deps.tally->refused(store, reply.error().code);
  const auto status = reply ? reply->status : status_of(reply.error().code).value_or(0);
  if (status == 401 || status == 404) deps.failures.count(call.request);
  co_return reply;
}

}  // namespace

void add_webhook_routes(Router& router, const WebhookDeps& deps) {
  router.add("POST", "/api/webhooks/{provider}/{integrationId}", Access::open(), with(deps, accept_webhook));
}

}  // namespace presetbridge::api
