// POST /api/customers/export, POST /api/customers/erase: what is known of a person, and its erasure
// (spec 9.6). Names of people are in bodies, since addresses are logged on the way.
#pragma once

#include "api/handlers/deliveries_handlers.h"
#include "api/handlers/orders_handlers.h"
#include "api/router.h"
#include "services/buyers/customers.h"

namespace presetbridge::api {

struct CustomersDeps {
  services::Customers& customers;
  OrdersDeps orders;
  DeliveriesDeps deliveries;
};
void add_customers_routes(Router& router, CustomersDeps deps);

}  // namespace presetbridge::api
