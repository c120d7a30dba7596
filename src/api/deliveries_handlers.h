// /api/deliveries: what became of orders, and what a merchant does about it (spec 3.7, 9.4).
#pragma once

#include "api/router.h"
#include "services/delivery/actions.h"

namespace presetbridge::api {

struct DeliveriesDeps {
  services::DeliveryActions& deliveries;
};
void add_deliveries_routes(Router& router, DeliveriesDeps deps);

}  // namespace presetbridge::api
