// /api/deliveries: the deliveries of orders, and the merchant's actions on them (spec 3.7, 9.4).
#pragma once

#include <string>

#include "api/router.h"
#include "services/buyers/buyer_links.h"
#include "services/delivery/actions.h"

namespace presetbridge::api {

struct DeliveriesDeps {
  services::DeliveryActions& deliveries;
  const services::BuyerLinks& links;
  std::string base_url;  // of this service, without a slash at the end: buyers' links begin with it
};
// The delivery with its timeline: the answer of every operation on one delivery.
json::object delivery_json(const DeliveriesDeps& deps, const services::DeliveryView& view);
void add_deliveries_routes(Router& router, DeliveriesDeps deps);

}  // namespace presetbridge::api
