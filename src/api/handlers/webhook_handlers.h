// POST /api/webhooks/{provider}/{integrationId}: receives the events of stores (spec 2).
#pragma once

#include <optional>

#include "api/router.h"
#include "net/network_budget.h"
#include "services/intake/reception.h"

namespace presetbridge::api {

struct WebhookDeps {
  services::Reception& reception;
  net::NetworkBudget& failures;  // of orders for an unknown store, or with an invalid signature or key
};
void add_webhook_routes(Router& router, const WebhookDeps& deps);

// The answer to a store (spec 2.12); without an `Accepted`, the answer to a ping.
Reply webhook_reply(const Expected<std::optional<services::Accepted>>& accepted);
// The body of the answer to an order without a delivery.
json::object ignored_json(const services::Accepted& accepted);

}  // namespace presetbridge::api
