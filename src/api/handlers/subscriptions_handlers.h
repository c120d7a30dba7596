// /api/webhook-subscriptions: outbound webhooks (spec 9.5).
#pragma once

#include "api/router.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::api {

struct SubscriptionsDeps {
  services::Subscriptions& subscriptions;
};
void add_subscriptions_routes(Router& router, SubscriptionsDeps deps);

}  // namespace presetbridge::api
