// /api/webhook-subscriptions/{subscription}/events and …/recover (spec 9.5).
#pragma once

#include "api/router.h"
#include "net/key_budget.h"
#include "services/webhooks/webhook_events.h"

namespace presetbridge::api {

struct WebhookEventsDeps {
  services::WebhookEvents& events;
  net::KeyBudget& dispatches;  // as SubscriptionsDeps: one budget for both
};
void add_webhook_events_routes(Router& router, WebhookEventsDeps deps);

}  // namespace presetbridge::api
