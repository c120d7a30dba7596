// POST /api/webhooks/{provider}/{integrationId}: the stores' way in (spec 2).
#pragma once

#include <optional>

#include "api/router.h"
#include "net/network_budget.h"
#include "services/intake/reception.h"

namespace presetbridge::api {

struct WebhookDeps {
  services::Reception& reception;
  net::NetworkBudget& failures;  // of orders for no store, or with a signature or key that is not valid
};
void add_webhook_routes(Router& router, const WebhookDeps& deps);

// The answer to a store (spec 2.12). Nothing: to a ping.
Reply webhook_reply(const Expected<std::optional<services::Accepted>>& accepted);
// The answer's body of an order that has no delivery.
json::object ignored_json(const services::Accepted& accepted);

}  // namespace presetbridge::api
