// /api/webhook-subscriptions: outbound webhooks (spec 9.5).
#pragma once

#include "api/router.h"
#include "net/key_budget.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::api {

struct SubscriptionsDeps {
  services::Subscriptions& subscriptions;
  net::KeyBudget& dispatches;  // of one account, by hand (spec 8.6): each leaves rows
};
void add_subscriptions_routes(Router& router, SubscriptionsDeps deps);

}  // namespace presetbridge::api
