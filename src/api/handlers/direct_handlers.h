// POST /api/deliveries: an order that the merchant's own program places, without a store's webhook
// (spec 3.8).
#pragma once

#include "api/handlers/deliveries_handlers.h"
#include "api/handlers/webhook_handlers.h"

namespace presetbridge::api {

struct DirectDeps {
  DeliveriesDeps deliveries;
  services::Reception& reception;
};
void add_direct_routes(Router& router, const DirectDeps& deps);

}  // namespace presetbridge::api
