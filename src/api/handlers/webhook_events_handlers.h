// /api/webhook-subscriptions/{subscription}/events and …/recover (spec 9.5).
#pragma once

#include "api/router.h"
#include "services/webhooks/webhook_events.h"

namespace presetbridge::api {

struct WebhookEventsDeps {
  services::WebhookEvents& events;
};
void add_webhook_events_routes(Router& router, WebhookEventsDeps deps);

}  // namespace presetbridge::api
